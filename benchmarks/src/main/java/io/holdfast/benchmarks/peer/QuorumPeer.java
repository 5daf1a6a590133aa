package io.holdfast.benchmarks.peer;

import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.util.List;

/** The ways to lock at five independent masters. */
public enum QuorumPeer implements PeerChoice {
    /** This library. */
    HOLDFAST,
    /** Five requests in parallel, decided when three have answered: what the wire and the driver allow. */
    LETTUCE,
    /** Redisson's MultiLock, which wants all five. */
    REDISSON_MULTI;

    @Override
    public Peer open(Addresses addresses) {
        return open(addresses.masters());
    }

    /**
     * Opens a client of its own.
     *
     * @param masters URIs
     */
    public Peer open(List<String> masters) {
        return switch (this) {
            case HOLDFAST -> holdfast(masters);
            case LETTUCE -> new LettuceQuorumPeer(masters);
            case REDISSON_MULTI -> RedissonPeer.multi(masters);
        };
    }

    private static Peer holdfast(List<String> masters) {
        ClientResources shared = ClientResources.create();
        List<RedisLockBackend> members = masters.stream()
                .map(uri -> RedisLockBackend.builder(RedisURI.create(uri))
                        .resources(shared)
                        .build())
                .toList();
        return new HoldfastPeer(RedlockBackend.over(members), () -> LettuceEnd.shutDown(shared));
    }
}
