package io.holdfast.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.memory.InMemoryLockBackend;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.test.scheduler.VirtualTimeScheduler;

/** A real Vert.x, and a back end in virtual time: losses and grants come when {@link #pass} is called. No claim may be left after a test. */
final class Island implements AfterEachCallback {

    private static final long PATIENCE_SECONDS = 20;

    final Vertx vertx = Vertx.vertx();
    final Context context = vertx.getOrCreateContext();
    final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    final List<LockEvent> events = new CopyOnWriteArrayList<>();
    final LockClient client = LockClient.builder(store)
            .timer(clock)
            .listener(events::add)
            .closeBackend(false)
            .build();
    final VertxLocks locks = VertxLocks.of(client, vertx);

    void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    /** Delivers the signals of the back end that are due. */
    void pass() {
        pass(Duration.ZERO);
    }

    /** Makes the call on that context, and returns its result. */
    <T> CompletableFuture<T> on(Context caller, Supplier<Future<T>> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        caller.runOnContext(unused -> call.get().onComplete(result::complete, result::completeExceptionally));
        return result;
    }

    <T> CompletableFuture<T> call(Supplier<Future<T>> call) {
        return on(context, call);
    }

    /** Waits until the context has run the due tasks, and the tasks that they caused. */
    void settle() {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        context.runOnContext(unused -> context.runOnContext(again -> turn.complete(null)));
        done(turn);
    }

    LockLease rivalHolds(String name) {
        return done(client.lock(name).acquire().toFuture());
    }

    void release(LockLease lease) {
        done(lease.release().toFuture());
        pass();
    }

    @CanIgnoreReturnValue
    static <T> T done(Future<T> future) {
        return done(future.toCompletionStage().toCompletableFuture());
    }

    @CanIgnoreReturnValue
    static <T> T done(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("failed", e.getCause());
        } catch (TimeoutException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the failure itself. Newer JDKs wrap a cancellation in another one in {@code get}. */
    static Throwable failed(CompletableFuture<?> future) {
        Throwable failure = done(future.handle((value, error) -> error));
        if (failure == null) {
            throw new AssertionError("succeeded with " + future.join());
        }
        return failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
    }

    /** Waits for something that happens on other threads. */
    void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("never: " + what);
            }
            pass();
            Thread.onSpinWait();
        }
    }

    @Override
    public void afterEach(ExtensionContext test) {
        CompletableFuture<Void> end = client.close().toFuture();
        pass(Duration.ofSeconds(2));
        assertThat(end).isCompleted();
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        assertThat(store.contents()).isEmpty();
        done(vertx.close());
    }
}
