package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/** Commands of an operator to a server that another fault may have killed or frozen at that moment. */
final class Orders {

    /** Longer than any fault of another field. */
    static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

    private Orders() {}

    /** Once; false if the server did not do it. */
    static boolean attempt(RedisServer server, Function<RedisCommands<String, String>, Object> order) {
        try {
            Object unused = RedisStore.ask(server.port(), order);
            return true;
        } catch (IllegalStateException away) {
            return false;
        }
    }

    /** On a connection that is there already. */
    static boolean attempt(RedisCommands<String, String> redis, Function<RedisCommands<String, String>, Object> order) {
        try {
            Object unused = order.apply(redis);
            return true;
        } catch (RedisException away) {
            return false;
        }
    }

    /** Until the server has done it: for what has to be so afterwards. */
    static void insist(RedisServer server, Function<RedisCommands<String, String>, Object> order)
            throws InterruptedException {
        Await.until("an order is obeyed by " + server, PATIENCE, POLL_INTERVAL, () -> attempt(server, order));
    }

    /** What the server answers, as soon as it does. */
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
