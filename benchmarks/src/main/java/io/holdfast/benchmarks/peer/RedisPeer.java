package io.holdfast.benchmarks.peer;

import io.holdfast.LocalHandOver;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;

/** The ways to lock at one Redis. */
public enum RedisPeer implements PeerChoice {
    /** This library. */
    HOLDFAST,
    /** The same, with a hand-over inside each process. */
    HAND_OVER,
    /** {@code SET NX PX} and a script that compares and deletes: what the wire and the driver allow. It cannot wait. */
    LETTUCE,
    /** Redisson's plain lock, reactive. */
    REDISSON,
    /** Redisson's fair lock, reactive: like ours, first come, first served. */
    REDISSON_FAIR,
    /** Spring Integration's lock registry, with its published notifications. It blocks. */
    SPRING;

    @Override
    public Peer open(Addresses addresses) {
        String uri = addresses.redis();
        return switch (this) {
            case HOLDFAST -> new HoldfastPeer(RedisLockBackend.create(RedisURI.create(uri)));
            case HAND_OVER -> new HoldfastPeer(LocalHandOver.over(RedisLockBackend.create(RedisURI.create(uri))));
            case LETTUCE -> new LettucePeer(uri);
            case REDISSON -> RedissonPeer.plain(uri);
            case REDISSON_FAIR -> RedissonPeer.fair(uri);
            case SPRING -> new SpringPeer(uri);
        };
    }
}
