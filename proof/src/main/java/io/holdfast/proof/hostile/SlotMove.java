package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.MigrateArgs;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** Moves the slot of a lock from one master of a cluster to another, as redis-cli does: key by key, while the lock is used. */
final class SlotMove {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);
    private static final int KEYS_AT_A_TIME = 10;
    private static final long MIGRATES_WITHIN_MILLIS = 2_000;

    private final List<RedisServer> masters;
    private final int slot;

    /**
     * Moves the slot of this lock.
     *
     * @param masters in the order of their home slots, of which each has the same number
     */
    SlotMove(Resource resource, List<RedisServer> masters) {
        this.masters = masters;
        slot = SlotHash.getSlot(("{" + resource.key().name() + "}").getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the home master of the slot. */
    int home() {
        return slot * masters.size() / SlotHash.SLOT_COUNT;
    }

    /** Moves half of the keys before the pause of the strike, and half after it. */
    void go(int from, int to, Strike strike) throws InterruptedException {
        RedisServer source = masters.get(from);
        RedisServer target = masters.get(to);
        String sourceId = Orders.answer(source, redis -> redis.clusterMyId());
        String targetId = Orders.answer(target, redis -> redis.clusterMyId());
        Orders.insist(target, redis -> redis.clusterSetSlotImporting(slot, sourceId));
        Orders.insist(source, redis -> redis.clusterSetSlotMigrating(slot, targetId));
        for (String key : some(source)) {
            boolean unused = migrated(source, target, key);
            Strike.last(strike.time().dividedBy(KEYS_AT_A_TIME));
        }
        // The new owner first: otherwise the old one would redirect. New keys may arrive until the old owner knows.
        long startNanos = System.nanoTime();
        while (!isEmptied(source, target)) {
            if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
                throw new IllegalStateException("slot %d is not empty within %s".formatted(slot, PATIENCE));
            }
            Strike.last(POLL_INTERVAL);
        }
        Orders.insist(target, redis -> redis.clusterSetSlotNode(slot, targetId));
        for (RedisServer master : masters) {
            Orders.insist(master, redis -> redis.clusterSetSlotNode(slot, targetId));
        }
    }

    private boolean isEmptied(RedisServer source, RedisServer target) throws InterruptedException {
        List<String> keys = some(source);
        keys.forEach(key -> {
            boolean unused = migrated(source, target, key);
        });
        return keys.isEmpty();
    }

    private List<String> some(RedisServer source) throws InterruptedException {
        return Orders.answer(source, redis -> redis.clusterGetKeysInSlot(slot, KEYS_AT_A_TIME));
    }

    /** A lost answer leaves the key at both masters; the value at the source is the valid one. */
    private static boolean migrated(RedisServer source, RedisServer target, String key) {
        MigrateArgs<String> overwriting = MigrateArgs.Builder.<String>replace().key(key);
        return Orders.attempt(source, redis -> {
            try {
                return redis.migrate(target.host(), target.port(), 0, MIGRATES_WITHIN_MILLIS, overwriting);
            } catch (RedisCommandExecutionException refused) {
                return false;
            }
        });
    }
}
