package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.protocol.GrantRecipient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.lettuce.core.RedisURI;

/** One attempt of a claim, as far as its channel is concerned. */
record ChannelRecipient(GrantSubscriber channel, LockClaim claim) implements GrantRecipient {

    @Override
    public String channelAt(RedisURI server) {
        ChannelSubscription subscription = channel.subscriptionFor(claim, server);
        return subscription == null ? "" : subscription.name();
    }

    @Override
    public String secret() {
        return channel.secret().text();
    }

    @Override
    public void refused() {
        channel.watches().waits(claim.id(), claim.attempt());
    }

    @Override
    public LockAttempt answered(String holderKey, LockAttempt answer) {
        if (answer instanceof LockAttempt.Acquired) {
            channel.watches().holds(claim.id());
            return answer;
        }
        channel.watches().waits(claim.id(), claim.attempt());
        return channel.watches().inLine(holderKey, claim.id(), answer);
    }
}
