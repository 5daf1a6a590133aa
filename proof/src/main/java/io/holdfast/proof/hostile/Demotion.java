package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import java.time.Duration;

/** A living master that is made a replica, and a master again. */
final class Demotion {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    /** Nothing listens there. */
    private static final int NOBODY = 1;

    private Demotion() {}

    /** It follows a server that is away: it refuses all writes meanwhile, and keeps its data. */
    static void ofNoUse(RedisServer master, Strike strike) throws InterruptedException {
        Orders.insist(master, redis -> redis.replicaof(master.host(), NOBODY));
        try {
            strike.last();
        } finally {
            Orders.insist(master, redis -> redis.replicaofNoOne());
        }
    }

    /** It copies an empty server, so it has forgotten everything. Its file is complete again when this returns. */
    static void toACopy(RedisServer master, Strike strike) throws InterruptedException {
        try (RedisServer empty =
                RedisServer.builder().args("--repl-diskless-sync-delay", "0").start()) {
            Orders.insist(master, redis -> redis.replicaof(empty.host(), empty.port()));
            try {
                Await.until("the copy is complete", PATIENCE, POLL_INTERVAL, () -> says(master, "master_link_status:up"));
                strike.last();
            } finally {
                Orders.insist(master, redis -> redis.replicaofNoOne());
            }
        }
        // The append-only file is written anew after a copy: until then, a restart brings back what was before.
        Await.until("the file is written anew", PATIENCE, POLL_INTERVAL, () -> says(master, "aof_rewrite_in_progress:0"));
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
