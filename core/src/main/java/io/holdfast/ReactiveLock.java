package io.holdfast;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A lock's name with options: stateless, cheap, shareable. All that is held is in the {@link LockLease}s it gives.
 *
 * <p><b>Laziness.</b> Nothing happens before a subscriber has asked for an element; each subscription is one acquisition of its
 * own, and waits like any other for those before it.
 *
 * <p><b>Leaving.</b> A subscriber may cancel at any instant. Before the emission its claim is withdrawn: the place in the queue is
 * given up, and a lock that is granted to it later all the same is released. After the emission the lease is the
 * subscriber's; a cancellation on another thread while the lease is being handed over counts as before. An operator downstream that
 * drops an emitted lease ({@code timeout}, {@code zip}, {@code firstWithSignal}, …) cannot be noticed at once: prefer {@link #withLock},
 * which leaks nothing whatever surrounds it.
 *
 * <p><b>Re-entrancy.</b> Inside {@code withLock} of the same lock of the same client, found through the Reactor Context, every
 * acquisition gives a nested view of the lease that is held, with the same token and without asking the store. The outermost
 * release frees the lock. A nested lease that was not released before is lost at that instant ({@link LossReason#NOT_HELD}), and nested
 * work is cancelled, because nothing protects it any more. An acquisition that begins later takes the lock itself. Context flows from the
 * subscriber upwards, so those who use {@link #acquire} pass the lease by hand.
 *
 * <p>A semaphore is never re-entrant: each acquisition takes permits of its own, and waits when there are too few. A pipeline that holds all
 * permits and acquires another one waits for itself; {@link LockOptions#waitTimeout()} bounds that.
 *
 * <p><b>Errors</b>, besides each method's own: {@link LockBackendException} when the store fails ({@code acquire} repeats transient
 * failures until {@code waitTimeout} or, without one, for one lease duration in a row); {@link LockClosedException} when the
 * client is closed; {@link IllegalStateException} when nested with {@code reentrant(false)} or when a read lock is to be
 * upgraded; {@link LockLostException} when nested in a lease that is lost.
 *
 * <p>Signals come on the client's {@code deliverOn} scheduler, else on the back end's or the timer's thread. Not for users to
 * implement.
 */
public interface ReactiveLock {

    /**
     * The name.
     *
     * @return as given to the client
     */
    String name();

    /**
     * The same lock with other options.
     *
     * @param options for acquisitions through the copy
     * @return a copy; this lock stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    ReactiveLock with(LockOptions options);

    /**
     * Takes the lock if it is available now. One attempt: completes within one round trip, leaves nothing behind when it is
     * taken, and never passes those who wait.
     *
     * @return the lease, or empty when the lock is not available
     */
    Mono<LockLease> tryAcquire();

    /**
     * Takes the lock, waiting for it as long as {@link LockOptions#waitTimeout()} allows.
     *
     * @return the lease, never empty; fails with {@link LockTimeoutException} when the wait is over
     */
    Mono<LockLease> acquire();

    /**
     * Runs work under the lock: acquires, subscribes to the work, releases, and then passes on how the work ended.
     *
     * @param work lazy: it must do nothing before it is subscribed to
     * @param <T> what the work gives
     * @return see {@link #withLock(Function)}
     */
    <T> Mono<T> withLock(Mono<T> work);

    /**
     * Runs work under the lock: acquires, subscribes to the work, releases, and then passes on how the work ended.
     *
     * <p>The lock is released however the work ends: complete, error or cancel. The result waits for the release, at most one
     * operation timeout. An error of the work stays the error; what the release met is added to it as suppressed. When the
     * lease is lost, the work is cancelled, and then {@link LockLostException} is signalled.
     *
     * <p><b>Work that blocks</b>, such as {@code Mono.fromCallable} with a call of JDBC, must not run where it begins by default: on the event loop of the
     * back end it stops the renewals of all leases of the client. Either build the client with {@link LockClient.Builder#deliverOn}, or move
     * the work: {@code Mono.fromCallable(call).subscribeOn(Schedulers.boundedElastic())}. A client of the Spring Boot starter has threads for it.
     *
     * <p>A cancellation cancels the work and then releases. It waits for what runs within the subscription to the work, such as a
     * {@code fromCallable}. A step that runs on another thread at that moment cannot be waited for, and nobody stops it: if it
     * would do harm, send the fencing token with it.
     *
     * <p>Nested work that outlives the outermost {@code withLock} of this lock fails with {@link LockLostException}. That happens when
     * something shares it ({@code cache}, {@code share}) or subscribes to it without waiting for its end.
     *
     * @param work from the lease to lazy work
     * @param <T> what the work gives
     * @return what the work gives; fails like {@link #acquire()}, like the work, or with {@link LockLostException}
     */
    <T> Mono<T> withLock(Function<? super LockLease, ? extends Mono<T>> work);

    /**
     * Runs work of many elements under the lock. Elements pass as they come, completion waits for the release. Work that blocks needs threads, see
     * {@link #withLock(Function)}.
     *
     * @param work from the lease to lazy work
     * @param <T> what the work gives
     * @return what the work gives; ends like {@link #withLock(Function)}
     */
    <T> Flux<T> withLockMany(Function<? super LockLease, ? extends Publisher<T>> work);

    /**
     * The lease that this pipeline already holds of this lock, found through the Reactor Context. No I/O.
     *
     * @return the lease of the outermost enclosing {@code withLock}, or empty when there is none or it is over; of a semaphore, that
     *     of the innermost one that is not over
     */
    Mono<LockLease> current();
}
