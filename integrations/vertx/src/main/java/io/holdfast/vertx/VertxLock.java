package io.holdfast.vertx;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A lock's name with options, whose results are futures of Vert.x. It is stateless, cheap and shareable. {@link VertxLocks} makes it, and
 * describes the context of results, undeployment and re-entrancy.
 *
 * <p><b>How a wait ends without the lock.</b> A future cannot be cancelled, so you choose its end beforehand: {@link
 * LockOptions#waitTimeout()}, {@link #giveUpAfter} or {@link #giveUpWhen}, or {@link VertxLocks#close()}. Each of them leaves the queue,
 * and releases a lock that is granted at the same moment. {@link Future#timeout} on a result of {@code acquire} does neither: the lease
 * arrives later, is renewed, and holds the lock until the garbage collector finds it.
 *
 * <p><b>Failures</b> of all methods: {@link LockTimeoutException} when {@code waitTimeout} is over (not for {@code tryAcquire}); {@link
 * CancellationException} when the wait was given up; {@link LockClosedException} when the view or its client is closed; and the others of
 * {@link ReactiveLock}.
 *
 * <p>Thread-safe.
 */
public final class VertxLock {

    private final ReactiveLock lock;
    private final Vertx vertx;
    private final OpenCalls calls;
    private final @Nullable Future<?> end;
    private final @Nullable Duration patience;

    VertxLock(ReactiveLock lock, Vertx vertx, OpenCalls calls) {
        this(lock, vertx, calls, null, null);
    }

    private VertxLock(
            ReactiveLock lock, Vertx vertx, OpenCalls calls, @Nullable Future<?> end, @Nullable Duration patience) {
        this.lock = lock;
        this.vertx = vertx;
        this.calls = calls;
        this.end = end;
        this.patience = patience;
    }

    /**
     * Returns the lock's name.
     *
     * @return the name that was given to the client
     */
    public String name() {
        return lock.name();
    }

    /**
     * Returns the same lock with other options. {@code reentrant} has no effect.
     *
     * @param options for acquisitions through the copy
     * @return a copy; this lock stays as it is
     * @throws IllegalArgumentException as {@link ReactiveLock#with}
     * @throws UnsupportedOperationException as {@link ReactiveLock#with}
     */
    public VertxLock with(LockOptions options) {
        return new VertxLock(lock.with(options), vertx, calls, end, patience);
    }

    /**
     * Returns the same lock, whose waits are given up at an event. Such an event is the disconnect of an HTTP client: {@code
     * giveUpWhen(Future.future(end -> routingContext.addEndHandler(ended -> end.tryComplete())))}. A call that got the lock before keeps it.
     *
     * @param event a future that succeeds or fails, on any thread. It should not live much longer than the calls: each call leaves a few
     *     bytes in it.
     * @return a copy; this lock stays as it is, and an event that was given to it is replaced
     */
    public VertxLock giveUpWhen(Future<?> event) {
        return new VertxLock(lock, vertx, calls, requireNonNull(event, "event"), patience);
    }

    /**
     * Returns the same lock, whose waits are given up after a time. All options stay the same. Use this, or {@link
     * LockOptions#waitTimeout()}, in place of {@link Future#timeout}, which ends the future but not the wait: the lock is still granted
     * later, and nothing releases it.
     *
     * @param time counted from the call; at least 1 ms
     * @return a copy; this lock stays as it is, and a time that was given to it is replaced
     * @throws IllegalArgumentException if it is less than 1 ms
     */
    public VertxLock giveUpAfter(Duration time) {
        if (time.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "the time after which a wait is given up must be at least 1 ms, but is " + time);
        }
        return new VertxLock(lock, vertx, calls, end, time);
    }

    /**
     * Takes the lock if it is available now. It sends one attempt, which never overtakes waiters.
     *
     * @return the lease, which the caller must release, or empty if the lock is not available
     */
    public Future<Optional<VertxLease>> tryAcquire() {
        return lease(lock.tryAcquire());
    }

    /**
     * Takes the lock, and waits for it as long as {@link LockOptions#waitTimeout()} allows.
     *
     * @return the lease, which the caller must release
     */
    public Future<VertxLease> acquire() {
        return lease(lock.acquire()).map(Optional::orElseThrow);
    }

    /**
     * Runs work under the lock: acquires the lock, calls the work on the caller's context, waits for its future, and releases the lock.
     * Then it returns the result or the error of the work, also if the work throws.
     *
     * <p>When the lease is lost, the result fails with {@link LockLostException} at once. The work itself cannot be stopped. It continues
     * without the lock, and only its own handlers get its result. So it should check {@link VertxLease#isValid()} or listen to {@link
     * VertxLease#onLoss}, and its writes should carry the {@link VertxLease#fencingToken()}.
     *
     * @param work called at most once, and not before the lock is held
     * @param <T> the type of the work's result
     * @return the result of the work, after the release; an error of the work stays the error, with an error of the release as suppressed
     */
    public <T> Future<T> withLock(Function<? super VertxLease, Future<T>> work) {
        requireNonNull(work, "work");
        Context context = vertx.getOrCreateContext();
        Call<T> call = new Call<>(lock.name(), context, calls);
        return start(call, lock.withLock(lease -> call.turn(() -> work.apply(new VertxLease(lease, vertx)), () -> {})));
    }

    private Future<Optional<VertxLease>> lease(Mono<LockLease> acquire) {
        Context context = vertx.getOrCreateContext();
        Call<Optional<VertxLease>> call = new Call<>(lock.name(), context, calls);
        return start(
                call,
                acquire.flatMap(lease -> call.turn(() -> handOver(lease), () -> VertxLease.giveBack(lease)))
                        .defaultIfEmpty(Optional.empty()));
    }

    private <T> Future<T> start(Call<T> call, Mono<T> steps) {
        if (patience == null) {
            return call.start(steps, end);
        }
        long timer = vertx.setTimer(patience.toMillis(), unused -> call.giveUp());
        return call.start(steps, end).onComplete(unused -> vertx.cancelTimer(timer));
    }

    private Future<Optional<VertxLease>> handOver(LockLease granted) {
        VertxLease lease = new VertxLease(granted, vertx);
        calls.hold(lease);
        return Future.succeededFuture(Optional.of(lease));
    }

    @Override
    public String toString() {
        return "VertxLock[%s]".formatted(lock);
    }
}
