package io.holdfast.zookeeper.internal.client;

import io.holdfast.spi.support.Printable;

/**
 * The servers as messages name them: host and port of each.
 *
 * @param text without the rest of the connect string, which a reader of logs should perhaps not see
 */
public record Servers(String text) {

    private static final int MOST_CHARS = 200;

    /** Used when the servers are not known. */
    public static final Servers UNKNOWN = new Servers("ZooKeeper");

    /** Returns the servers of a connect string, {@code host1:port,host2:port/root}. */
    public static Servers of(String connectString) {
        int root = connectString.indexOf('/');
        String hosts = root < 0 ? connectString : connectString.substring(0, root);
        String known = hosts.substring(hosts.lastIndexOf('@') + 1);
        return known.isBlank() ? UNKNOWN : new Servers(Printable.start(known, MOST_CHARS));
    }

    /** Returns the path behind the servers of a connect string; empty without one. */
    public static String chroot(String connectString) {
        int root = connectString.indexOf('/');
        return root < 0 ? "" : connectString.substring(root);
    }

    @Override
    public String toString() {
        return text;
    }
}
