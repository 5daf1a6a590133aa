package io.holdfast;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A lock name with options: stateless, cheap, shareable. The state of a held lock is in its {@link LockLease}.
 *
 * <p><b>Laziness.</b> Nothing happens before a subscriber requests an element. Each subscription is one acquisition,
 * and waits in turn like any other.
 *
 * <p><b>Cancellation.</b> A subscriber may cancel at any instant. Before the emission, the client withdraws the claim:
 * it gives up the place in the queue, and releases the lock if it is granted later. After the emission, the subscriber
 * owns the lease. A cancellation on another thread during the emission counts as before it. The client cannot notice at
 * once that an operator downstream drops an emitted lease ({@code timeout}, {@code zip}, {@code firstWithSignal}, …).
 * Prefer {@link #withLock}, which leaks no lease with any operator around it.
 *
 * <p><b>Re-entrancy.</b> Inside {@code withLock} of the same lock of the same client, every acquisition gives a nested
 * view of the held lease, with the same token and without a request. The Reactor Context carries the lease. The
 * outermost release frees the lock. A nested lease that is not released by then is lost at that instant
 * ({@link LossReason#NOT_HELD}). Nested work is cancelled, because the lock no longer protects it. An acquisition that
 * begins after that takes the lock itself. Context flows from the subscriber upwards. With {@link #acquire}, pass the
 * lease as an argument.
 *
 * <p>A semaphore is never re-entrant: each acquisition takes permits of its own, and waits when there are too few. A
 * pipeline that holds all permits and acquires another permit waits for itself; {@link LockOptions#waitTimeout()}
 * bounds that wait.
 *
 * <p><b>Errors</b>, besides those of each method:
 *
 * <ul>
 * <li>{@link LockBackendException} when the back end fails. {@code acquire} repeats transient failures until
 *     {@code waitTimeout} or, without one, for one lease duration in a row.
 * <li>{@link LockQueueFullException} when it would wait, and {@code maxWaiters} of the client or of the back end is
 *     reached.
 * <li>{@link LockClosedException} when the client is closed or drained.
 * <li>{@link java.util.concurrent.RejectedExecutionException} when the {@code deliverOn} scheduler rejects the lease.
 * <li>{@link IllegalStateException} when nested with {@code reentrant(false)}, or when a reader acquires the write lock.
 * <li>{@link LockLostException} when nested in a lost lease.
 * </ul>
 *
 * <p>Signals arrive on the client's {@code deliverOn} scheduler, or else on the thread of the back end, of the timer or
 * of the subscriber. Users do not implement this interface.
 */
public interface ReactiveLock {

    /** {@return the name, as given to the client} */
    String name();

    /**
     * Returns the same lock with other options.
     *
     * @param options the options for acquisitions through the copy
     * @return a copy; this lock stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    ReactiveLock with(LockOptions options);

    /**
     * Takes the lock if it is available now. One attempt: completes within one round trip, leaves nothing behind when
     * the lock is taken, and never overtakes a waiter.
     *
     * @return the lease, or empty when the lock is not available; fails with {@link LockBackendException} when the back
     *     end did not answer within the operation timeout
     */
    Mono<LockLease> tryAcquire();

    /**
     * Takes the lock, and waits for it as long as {@link LockOptions#waitTimeout()} allows.
     *
     * @return the lease, never empty; fails with {@link LockTimeoutException} when the wait is over
     */
    Mono<LockLease> acquire();

    /**
     * Runs work under the lock: acquires, subscribes to the work, releases, and then emits the result of the work.
     *
     * @param work lazy: it must do nothing before the subscription
     * @param <T> the result of the work
     * @return see {@link #withLock(Function)}
     */
    <T> Mono<T> withLock(Mono<? extends T> work);

    /**
     * Runs work under the lock: acquires, subscribes to the work, releases, and then emits the result of the work.
     *
     * <p>The lock is released however the work ends: complete, error or cancel. The result waits for the release, at
     * most one operation timeout. If the work fails, its error is emitted. A failure of the release is added to it as
     * suppressed. When the lease is lost, the work is cancelled, and then {@link LockLostException} is signalled.
     *
     * <p><b>Work that blocks</b>, such as {@code Mono.fromCallable} with a call of JDBC, must not run on the thread
     * where it begins by default. On the event loop of the back end, it stops the renewals of all leases of the client.
     * Either build the client with {@link LockClient.Builder#deliverOn}, or move the work:
     * {@code Mono.fromCallable(call).subscribeOn(Schedulers.boundedElastic())}. A client of the Spring Boot starter has
     * threads for it.
     *
     * <p>A cancellation cancels the work and then releases. It waits for a step that runs within the subscription to
     * the work, such as a {@code fromCallable}. It cannot wait for a step that runs on another thread at that moment,
     * and cannot stop it. If that step could do harm, send the fencing token with it.
     *
     * <p>Nested work that runs longer than the outermost {@code withLock} of this lock fails with
     * {@link LockLostException}. This happens when an operator shares the nested work ({@code cache}, {@code share}),
     * or code subscribes to it without waiting for its end.
     *
     * @param work a function from the lease to lazy work
     * @param <T> the result of the work
     * @return the result of the work; fails like {@link #acquire()}, like the work, or with {@link LockLostException}
     */
    <T> Mono<T> withLock(Function<? super LockLease, ? extends Mono<? extends T>> work);

    /**
     * Runs work of many elements under the lock. Elements are emitted as they arrive; completion waits for the release.
     * Work that blocks needs threads, see {@link #withLock(Function)}.
     *
     * @param work a function from the lease to lazy work
     * @param <T> the elements of the work
     * @return the elements of the work; ends like {@link #withLock(Function)}
     */
    <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<? extends T>> work);

    /**
     * Returns the lease of this lock that this pipeline holds already, from the Reactor Context. Sends nothing.
     *
     * @return the lease of the outermost enclosing {@code withLock}, or empty when there is none or it has ended; for a
     *     semaphore, that of the innermost {@code withLock} whose lease has not ended
     */
    Mono<LockLease> current();
}
