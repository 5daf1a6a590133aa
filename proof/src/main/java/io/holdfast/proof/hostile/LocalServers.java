package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.util.Set;

/** Servers have to be processes of this machine: they are frozen, and keep their data in folders of ours. */
public final class LocalServers {

    private static final Set<String> LOCAL = Set.of("path", "embedded");

    private LocalServers() {}

    /** The choice of the user, if it is one of these; else the server that the build brings. */
    public static void choose() {
        if (!LOCAL.contains(System.getProperty(RedisServer.SWITCH, ""))) {
            System.setProperty(RedisServer.SWITCH, "embedded");
        }
    }
}
