package io.holdfast.zookeeper.internal.queue;

/** A queue has a node of a later version of this library. This version does not know by which rules that node holds. */
public final class NewerFormException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String node;

    NewerFormException(String node) {
        super(node, null, false, false);
        this.node = node;
    }

    public String node() {
        return node;
    }
}
