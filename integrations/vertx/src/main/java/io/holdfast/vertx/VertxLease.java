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
 * What you hold: the lock, for a while. What a lease promises, and what no lease can, is said at {@link LockLease}: where a write by a former
 * holder would do harm, the read leaves the {@link #fencingToken()}, and the write asks for it.
 *
 * <p>Futures complete on the context of the caller. A lease belongs to no thread, context or verticle: any may use or release it.
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
     * The lock's name.
     *
     * @return as given to the client
     */
    public String lockName() {
        return lease.lockName();
    }

    /**
     * A number that is greater than that of every earlier owner of this lock.
     *
     * @return as {@link LockLease#fencingToken()}
     */
    public long fencingToken() {
        return lease.fencingToken();
    }

    /**
     * How long the lease is surely valid without another renewal.
     *
     * @return as {@link LockLease#remaining()}
     */
    public Duration remaining() {
        return lease.remaining();
    }

    /**
     * Whether the lock is held at this instant.
     *
     * @return as {@link LockLease#isValid()}
     */
    public boolean isValid() {
        return lease.isValid();
    }

    /**
     * Tells when the lease is lost; several may be told.
     *
     * @param handler called once at most, on the context of this call; at once when the lease is lost already, never when it was released.
     *     What it throws goes to the context's exception handler.
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
     * @return completes when the store confirmed; fails with {@link LockLostException} when the lease is lost or released, with
     *     {@link LockBackendException} when the outcome is unknown (the lease stays until its local deadline)
     */
    public Future<Void> renew() {
        return onContext(lease.renew());
    }

    /**
     * Gives the lock back, now. Idempotent: all calls share one release and its result.
     *
     * @return completes when the store confirmed, at the latest after one operation timeout; fails with {@link LockLostException} when the
     *     lease was lost before
     */
    @CanIgnoreReturnValue
    public Future<Void> release() {
        return onContext(lease.release());
    }

    private Future<Void> onContext(Mono<Void> mono) {
        return Future.fromCompletionStage(mono.toFuture(), vertx.getOrCreateContext());
    }

    /** Completes when it is over, however. */
    CompletableFuture<?> giveBack() {
        return giveBack(lease);
    }

    /** Nobody is left to tell of a failure; the client's events report it. */
    @CanIgnoreReturnValue
    static CompletableFuture<?> giveBack(LockLease lease) {
        return lease.release().onErrorComplete().toFuture();
    }

    @Override
    public String toString() {
        return "VertxLease[%s]".formatted(lease);
    }
}
