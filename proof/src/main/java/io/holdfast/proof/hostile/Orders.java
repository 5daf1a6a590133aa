package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/** Sends an operator's commands to a server that another fault may have killed or frozen at that moment. */
final class Orders {

    /** A time limit that is longer than any fault of another field. */
    static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private Orders() {}

    /** Sends a command once. Returns false if the server did not carry it out. */
    static boolean attempt(RedisServer server, Function<RedisCommands<String, String>, Object> order) {
        try {
            Object unused = RedisStore.ask(server.port(), order);
            return true;
        } catch (IllegalStateException away) {
            return false;
        }
    }

    /** Sends a command once, on an open connection. Returns false if the server did not carry it out. */
    static boolean attempt(RedisCommands<String, String> redis, Function<RedisCommands<String, String>, Object> order) {
        try {
            Object unused = order.apply(redis);
            return true;
        } catch (RedisException away) {
            return false;
        }
    }

    /** Repeats a command until the server has carried it out. */
    static void insist(RedisServer server, Function<RedisCommands<String, String>, Object> order)
            throws InterruptedException {
        Await.until("a command is carried out by " + server, PATIENCE, POLL_INTERVAL, () -> attempt(server, order));
    }

    /** Repeats a query until the server answers. Returns the answer. */
    static <T> T answer(RedisServer server, Function<RedisCommands<String, String>, T> question)
            throws InterruptedException {
        return Await.some("an answer of " + server, PATIENCE, POLL_INTERVAL, () -> {
            try {
                return Optional.of(RedisStore.ask(server.port(), question));
            } catch (IllegalStateException away) {
                return Optional.empty();
            }
        });
    }
}
