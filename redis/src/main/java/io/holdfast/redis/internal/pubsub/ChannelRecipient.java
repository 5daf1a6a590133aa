package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.protocol.GrantRecipient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.lettuce.core.RedisURI;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a claim, as far as its channel is concerned. Its fields are written again when the attempt is
 * redirected to another server, or sent as a whole script.
 */
final class ChannelRecipient implements GrantRecipient {

    private final GrantSubscriber channel;
    private final LockClaim claim;

    /**
     * Written when the attempt is sent, read when it is answered: the driver orders the two. Null for a claim that
     * polls.
     */
    private @Nullable ChannelSubscription subscription;

    /** Written and read as the subscription. Null if the attempt requests no echo. */
    private ChannelHeartbeat.@Nullable EchoRequest echoRequest;

    ChannelRecipient(GrantSubscriber channel, LockClaim claim) {
        this.channel = channel;
        this.claim = claim;
    }

    @Override
    public String channelAt(RedisURI server) {
        ChannelSubscription now = channel.subscriptionFor(claim, server);
        if (now == null || now != subscription) {
            echoRequest = null;
        }
        subscription = now;
        if (now != null && echoRequest == null) {
            echoRequest = now.requestEcho(claim.attempt() == 1);
        }
        return now == null ? "" : now.name();
    }

    @Override
    public boolean wantsEcho() {
        return echoRequest != null;
    }

    @Override
    public String secret() {
        return channel.secret().text();
    }

    /** The server has published the echo before this answer. */
    @Override
    public void refused() {
        channel.watches().waits(claim.id(), claim.attempt());
        if (echoRequest != null) {
            echoRequest.answered();
        }
    }

    @Override
    public LockAttempt answered(LockAttempt answer) {
        ChannelSubscription asked = subscription;
        if (answer instanceof LockAttempt.Acquired) {
            channel.watches().holds(claim.id());
            if (echoRequest != null) {
                echoRequest.notPublished();
            }
        } else if (asked != null) {
            channel.watches().waits(claim.id(), claim.attempt());
            asked.open();
            if (echoRequest != null) {
                echoRequest.answered();
            }
        }
        return answer;
    }
}
