package io.holdfast.benchmarks.peer;

/** Counts the nodes of a ZooKeeper with a client of its own. */
public final class NodeCount implements AutoCloseable {

    private final CuratorSession session;

    private NodeCount(CuratorSession session) {
        this.session = session;
    }

    /** Opens a session of its own. */
    public static NodeCount at(String connect) {
        return new NodeCount(CuratorSession.open(connect));
    }

    /** Counts all nodes below the root. */
    public int now() {
        try {
            return session.client().getZookeeperClient().getZooKeeper().getAllChildrenNumber("/");
        } catch (Exception e) {
            throw new IllegalStateException("cannot count the nodes", e);
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
