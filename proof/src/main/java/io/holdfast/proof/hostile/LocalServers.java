package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.util.Set;

/** Checks that servers are processes of this machine: faults freeze them, and they keep their data in folders of the campaign. */
public final class LocalServers {

    private static final Set<String> LOCAL = Set.of("path", "embedded");

    private LocalServers() {}

    /** Chooses the server of the user, if it runs as a process; otherwise the server that comes with the build. */
    public static void choose() {
        if (!LOCAL.contains(System.getProperty(RedisServer.SWITCH, ""))) {
            System.setProperty(RedisServer.SWITCH, "embedded");
        }
    }
}
