package io.holdfast.redis;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import org.jspecify.annotations.Nullable;

/** One look of a claim, as far as its channel is concerned. Written anew when the look is sent on to another server, or as a whole. */
final class ChannelLook {

    private final PushChannel channel;
    private final LockClaim claim;

    /** Written when the look is sent, read when it is answered: the driver orders the two. Null for a claim that polls. */
    private @Nullable PushLine line;

    /** As the line. Null when it asks for no echo there. */
    private ChannelPulse.@Nullable Question question;

    ChannelLook(PushChannel channel, LockClaim claim) {
        this.channel = channel;
        this.claim = claim;
    }

    /** The channel for the scripts to publish to, for the look that is about to be sent there; empty when this claim has to poll. */
    String channelAt(CommandLink link) {
        PushLine now = channel.lineFor(claim.id(), link);
        if (now == null || now != line) {
            question = null;
        }
        line = now;
        // Most claims that wait are served before they look again.
        if (now != null && question == null && claim.attempt() > 1) {
            question = now.ask();
        }
        return now == null ? "" : now.name();
    }

    boolean wantsEcho() {
        return question != null;
    }

    String secret() {
        return channel.secret().text();
    }

    /** The queue was full: the claim waits for nothing. The server has published the echo before it said so. */
    void refused() {
        channel.watches().waits(claim.id());
        if (question != null) {
            question.answered();
        }
    }

    /** Passes the answer on. */
    LockAttempt answered(LockAttempt answer) {
        PushLine asked = line;
        if (answer instanceof LockAttempt.Acquired) {
            channel.watches().holds(claim.id());
        } else if (asked != null) {
            channel.watches().waits(claim.id());
            asked.open();
            if (question != null) {
                question.answered();
            }
        }
        return answer;
    }
}
