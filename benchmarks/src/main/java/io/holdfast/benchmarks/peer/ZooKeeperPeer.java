package io.holdfast.benchmarks.peer;

import io.holdfast.zookeeper.ZooKeeperLockBackend;

/** The ways to lock at one ZooKeeper. */
public enum ZooKeeperPeer implements PeerChoice {
    /** This library. */
    HOLDFAST,
    /** Create, list, delete, asynchronously: what the wire and the driver allow. It cannot wait. */
    RAW,
    /** Curator's {@code InterProcessMutex}. It blocks. */
    CURATOR,
    /** The lock of a clustered Vert.x. It does not signal the end of a release. */
    VERTX;

    /** Opens a client with a session of its own. */
    @Override
    public Peer open(Addresses addresses) {
        String connect = addresses.zookeeper();
        return switch (this) {
            case HOLDFAST -> {
                CuratorSession session = CuratorSession.open(connect);
                yield new HoldfastPeer(ZooKeeperLockBackend.over(session.client()), session::close);
            }
            case RAW -> new RawZooKeeperPeer(CuratorSession.open(connect));
            case CURATOR -> new CuratorPeer(CuratorSession.open(connect));
            case VERTX -> new VertxPeer(CuratorSession.open(connect));
        };
    }
}
