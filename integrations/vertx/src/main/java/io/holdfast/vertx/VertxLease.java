package io.holdfast.vertx;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LossReason;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * The lock for a limited time. {@link LockLease} says what a lease promises and what no lease can promise. If a write by a former holder
 * could do harm, store the {@link #fencingToken()} beside the data before you read it, and check it when you write.
 *
 * <p>Futures complete on the context of the caller. A lease belongs to no thread, context or verticle: any of them may use or release it.
 * Thread-safe.
 */
public final class VertxLease {

    private final LockLease lease;
    private final Vertx vertx;

    VertxLease(LockLease lease, Vertx vertx) {
        this.lease = lease;
        this.vertx = vertx;
    }

    /**
     * Returns the lock's name.
     *
     * @return the name that was given to the client
     */
    public String lockName() {
        return lease.lockName();
    }

    /**
     * Returns a number that is greater than the number of every earlier owner of this lock.
     *
     * @return as {@link LockLease#fencingToken()}
     */
    public long fencingToken() {
        return lease.fencingToken();
    }

    /**
     * Returns how long the lease is surely valid without another renewal.
     *
     * @return as {@link LockLease#remaining()}
     */
    public Duration remaining() {
        return lease.remaining();
    }

    /**
     * Returns whether the lock is held at this instant.
     *
     * @return as {@link LockLease#isValid()}
     */
    public boolean isValid() {
        return lease.isValid();
    }

    /**
     * Calls a handler when the lease is lost. Several handlers are possible.
     *
     * @param handler called at most once, on the context of this call; at once if the lease is lost already, never if it was released. The
     *     context's exception handler gets its exceptions.
     * @return this
     */
    @CanIgnoreReturnValue
    public VertxLease onLoss(Handler<LossReason> handler) {
        requireNonNull(handler, "handler");
        Context context = vertx.getOrCreateContext();
        // Ends with the lease.
        Disposable unused = lease.onLoss().subscribe(reason -> context.runOnContext(turn -> handler.handle(reason)));
        return this;
    }

    /**
     * Extends the lease now, by its full duration. Each call sends a request.
     *
     * @return completes when the back end has confirmed it; fails with {@link LockLostException} when the lease is lost or released, with
     *     {@link LockBackendException} when the outcome is unknown (the lease stays until its local deadline)
     */
    public Future<Void> renew() {
        return onContext(lease.renew());
    }

    /**
     * Releases the lock now. Idempotent: all calls share one release and its result.
     *
     * @return completes when the back end has confirmed it, at the latest after one operation timeout; fails with {@link LockLostException}
     *     when the lease was lost before
     */
    @CanIgnoreReturnValue
    public Future<Void> release() {
        return onContext(lease.release());
    }

    private Future<Void> onContext(Mono<Void> mono) {
        return Future.fromCompletionStage(mono.toFuture(), vertx.getOrCreateContext());
    }

    /** Completes when the lease was released or lost. Until then, the client does not find a lease that its user has dropped. */
    CompletableFuture<?> end() {
        return lease.onLoss().onErrorComplete().toFuture();
    }

    /** Releases the lease. Completes when the release has ended, even if it failed. */
    CompletableFuture<?> giveBack() {
        return giveBack(lease);
    }

    /** Releases the lease, and ignores a failure: there is no caller to report it to. The client's events report it. */
    @CanIgnoreReturnValue
    static CompletableFuture<?> giveBack(LockLease lease) {
        return lease.release().onErrorComplete().toFuture();
    }

    @Override
    public String toString() {
        return "VertxLease[%s]".formatted(lease);
    }
}
