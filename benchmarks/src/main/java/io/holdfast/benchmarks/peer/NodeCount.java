package io.holdfast.benchmarks.peer;

/** How many nodes a ZooKeeper has, as a client of its own sees it. */
public final class NodeCount implements AutoCloseable {

    private final CuratorSession session;

    private NodeCount(CuratorSession session) {
        this.session = session;
    }

    /** With a session of its own. */
    public static NodeCount at(String connect) {
        return new NodeCount(CuratorSession.open(connect));
    }

    /** All nodes below the root. */
    public int now() {
        try {
            return session.client().getZookeeperClient().getZooKeeper().getAllChildrenNumber("/");
        } catch (Exception e) {
            throw new IllegalStateException("the nodes could not be counted", e);
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
