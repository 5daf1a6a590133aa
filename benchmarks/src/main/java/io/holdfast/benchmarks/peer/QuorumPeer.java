package io.holdfast.benchmarks.peer;

import io.holdfast.LocalHandOver;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/** The ways to lock at five independent masters. */
public enum QuorumPeer implements PeerChoice {
    /** This library. */
    HOLDFAST,
    /** The same, with a hand-over inside each process. */
    HAND_OVER,
    /** Five requests in parallel, decided when three have answered: what the wire and the driver allow. */
    LETTUCE,
    /** Redisson's MultiLock, which needs all five masters. */
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
            case HOLDFAST -> holdfast(masters, it -> it);
            case HAND_OVER -> holdfast(masters, LocalHandOver::over);
            case LETTUCE -> new LettuceQuorumPeer(masters);
            case REDISSON_MULTI -> RedissonPeer.multi(masters);
        };
    }

    private static Peer holdfast(List<String> masters, UnaryOperator<LockBackend> decoration) {
        ClientResources shared = ClientResources.create();
        List<RedisLockBackend> members = masters.stream()
                .map(uri -> RedisLockBackend.builder(RedisURI.create(uri))
                        .resources(shared)
                        .quarantine(Duration.ZERO) // the servers do not restart
                        .build())
                .toList();
        return new HoldfastPeer(decoration.apply(RedlockBackend.over(members)), () -> LettuceEnd.shutDown(shared));
    }
}
