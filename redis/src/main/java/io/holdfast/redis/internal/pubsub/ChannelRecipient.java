package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.protocol.GrantRecipient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/** One attempt of a claim, as far as its channel is concerned. Written anew when the attempt is sent on to another server, or as a whole. */
final class ChannelRecipient implements GrantRecipient {

    private final GrantSubscriber channel;
    private final LockClaim claim;

    /** Written when the attempt is sent, read when it is answered: the driver orders the two. Null for a claim that polls. */
    private @Nullable ChannelSubscription subscription;

    /** As the subscription. Null when it asks for no echo there. */
    private ChannelHeartbeat.@Nullable Question question;

    ChannelRecipient(GrantSubscriber channel, LockClaim claim) {
        this.channel = channel;
        this.claim = claim;
    }

    @Override
    public String channelAt(RedisURI server) {
        ChannelSubscription now = channel.subscriptionFor(claim.id(), server);
        if (now == null || now != subscription) {
            question = null;
        }
        subscription = now;
        if (now != null && question == null) {
            question = now.ask(claim.attempt() == 1);
        }
        return now == null ? "" : now.name();
    }

    @Override
    public boolean wantsEcho() {
        return question != null;
    }

    @Override
    public String secret() {
        return channel.secret().text();
    }

    /** The server has published the echo before it said so. */
    @Override
    public void refused() {
        channel.watches().waits(claim.id());
        if (question != null) {
            question.answered();
        }
    }

    @Override
    public LockAttempt answered(LockAttempt answer) {
        ChannelSubscription asked = subscription;
        if (answer instanceof LockAttempt.Acquired) {
            channel.watches().holds(claim.id());
            if (question != null) {
                question.unasked();
            }
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
