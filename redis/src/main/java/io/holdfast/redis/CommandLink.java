package io.holdfast.redis;

import io.holdfast.LockBackendException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The one connection for commands: made when first needed, shared by all, kept up by the driver from then on. All commands
 * travel on it in the order they were given, so a release never overtakes its acquire. A failed attempt is forgotten; the
 * next command tries again.
 */
final class CommandLink {

    private final LettuceClient lettuce;
    private final SendQueue queue = new SendQueue();

    /** Those who wait for the connection; polled within the queue only. */
    private final Queue<BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable>>
            unconnected = new ConcurrentLinkedQueue<>();

    /** Null before the first attempt and after a failed one. */
    private final AtomicReference<@Nullable CompletableFuture<StatefulRedisConnection<String, String>>> attempt =
            new AtomicReference<>();

    /** Set once, by the attempt that succeeded. */
    private volatile @Nullable StatefulRedisConnection<String, String> connection;

    CommandLink(LettuceClient lettuce) {
        this.lettuce = lettuce;
    }

    /** The connection if it was made already, in force or being restored. */
    @Nullable
    StatefulRedisConnection<String, String> ready() {
        return connection;
    }

    /** Calls back once, with one of both, in the order of the calls: dependents of a future would come last first. */
    void whenConnected(BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {
        unconnected.add(then);
        var unused = connect()
                .whenComplete((made, error) -> inOrder(() -> {
                    for (var next = unconnected.poll(); next != null; next = unconnected.poll()) {
                        next.accept(made, error);
                    }
                }));
    }

    private CompletableFuture<StatefulRedisConnection<String, String>> connect() {
        CompletableFuture<StatefulRedisConnection<String, String>> mine = new CompletableFuture<>();
        while (!attempt.compareAndSet(null, mine)) {
            CompletableFuture<StatefulRedisConnection<String, String>> other = attempt.get();
            if (other != null) {
                return other;
            }
        }
        start(mine);
        return mine;
    }

    /** Sends in the order of the calls; see {@link SendQueue}. */
    void inOrder(Runnable send) {
        queue.send(send);
    }

    boolean isClosed() {
        return lettuce.isClosed();
    }

    Mono<Void> ping(RedisFailures failures) {
        RedisFailures.Subject subject = new RedisFailures.Subject("", "ping");
        return Mono.defer(
                        () -> isClosed() ? Mono.error(failures.closed(subject)) : Mono.fromFuture(this::connect, true))
                .flatMap(made -> Mono.fromFuture(() -> pong(made), true))
                .onErrorMap(e -> !(e instanceof LockBackendException), e -> failures.of(subject, e))
                .then();
    }

    private CompletableFuture<String> pong(StatefulRedisConnection<String, String> made) {
        CompletableFuture<String> pong = new CompletableFuture<>();
        inOrder(() -> {
            var unused = made.async().ping().whenComplete((answer, error) -> {
                if (error == null) {
                    pong.complete(answer);
                } else {
                    pong.completeExceptionally(error);
                }
            });
        });
        return pong;
    }

    private void start(CompletableFuture<StatefulRedisConnection<String, String>> mine) {
        var unused = lettuce.connect().whenComplete((made, error) -> {
            if (error == null) {
                mine.complete(made);
                connection = made; // last, so that nobody passes those who waited for it
            } else {
                fail(mine, error);
            }
        });
    }

    private void fail(CompletableFuture<StatefulRedisConnection<String, String>> mine, Throwable error) {
        attempt.compareAndSet(mine, null);
        mine.completeExceptionally(error);
    }
}
