package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.time.Duration;

/** Makes a living master a replica, and a master again. */
final class Demotion {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    /** Nothing listens there. */
    private static final int NOBODY = 1;

    private Demotion() {}

    /** Makes the master follow an unreachable server: it refuses all writes meanwhile, and keeps its data. */
    static void ofNoUse(RedisServer master, Strike strike) throws InterruptedException {
        Orders.insist(master, redis -> redis.replicaof(master.host(), NOBODY));
        try {
            strike.last();
        } finally {
            Orders.insist(master, redis -> redis.replicaofNoOne());
        }
    }

    /** Makes the master copy an empty server, so that it loses all data. Returns when its file is complete again. */
    static void toACopy(RedisServer master, Strike strike) throws InterruptedException {
        try (RedisServer empty =
                RedisServer.builder().args("--repl-diskless-sync-delay", "0").start()) {
            Orders.insist(master, redis -> redis.replicaof(empty.host(), empty.port()));
            try {
                Await.until(
                        "the copy is complete", PATIENCE, POLL_INTERVAL, () -> says(master, "master_link_status:up"));
                strike.last();
            } finally {
                Orders.insist(master, redis -> redis.replicaofNoOne());
            }
        }
        // The server rewrites its append-only file after a copy: until then, a restart brings the old data back.
        Await.until(
                "the file is written anew", PATIENCE, POLL_INTERVAL, () -> says(master, "aof_rewrite_in_progress:0"));
        Await.until("the file is written anew", PATIENCE, POLL_INTERVAL, () -> says(master, "aof_rewrite_scheduled:0"));
    }

    private static boolean says(RedisServer server, String line) {
        try {
            return RedisStore.ask(server.port(), redis -> redis.info("replication") + redis.info("persistence"))
                    .contains(line);
        } catch (IllegalStateException away) {
            return false;
        }
    }
}
