package io.holdfast;

import java.util.List;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Several locks as one: an acquisition takes all of them, or none. Stateless, cheap, shareable.
 *
 * <p><b>Order.</b> An acquisition waits for its members in one canonical order, whatever the order in which they were
 * given: by name, as {@link String#compareTo} sorts. While an acquisition waits for a lock, it holds only locks before
 * that one. So acquisitions of many locks never wait for each other in a circle. A pipeline that holds a lock and
 * acquires many locks inside it has an order of its own; give all of them together instead.
 *
 * <p><b>Cost.</b> The acquisition takes all available members at once, in one round trip on back ends that send calls
 * together. If some are not available, it waits for the first of these, and then tries the rest at once again.
 * Meanwhile it releases the members that it has taken and that come after that one in the order.
 *
 * <p><b>Options.</b> Each member keeps its own options; {@link #with} replaces them for all. The time limit applies to
 * the whole: the shortest {@link LockOptions#waitTimeout()} of all members, counted from the subscription.
 *
 * <p><b>Members.</b> A lock that is given twice is taken once, with the options of the first. If both sides of a
 * read/write lock are given, the write side is taken. A member that this pipeline already holds, see
 * {@link ReactiveLock}, is a nested lease. A semaphore member takes one permit.
 *
 * <p><b>Cancellation</b>, laziness and threads are as {@link ReactiveLock} says: a subscriber may cancel at any
 * instant, and nothing stays held or queued. Listeners and meters get the events of each member separately, also of
 * members that were tried and not available.
 *
 * <p><b>Errors</b> are those of {@link ReactiveLock}, and {@link LockException#lockName()} is the member that caused
 * the error. If a member is lost while the acquisition waits for others, it ends with {@link LockLostException}. This
 * happens when the lease of that member cannot be renewed, or has {@code autoRenew} off.
 *
 * <p>Users do not implement this interface.
 */
public interface ReactiveMultiLock {

    /** {@return the names of the members in the canonical order, each once; unmodifiable} */
    List<String> names();

    /**
     * Returns the same locks with other options.
     *
     * @param options the options for each member
     * @return a copy; this one stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    ReactiveMultiLock with(LockOptions options);

    /**
     * Takes all members if all are available now. Sends one attempt for each, at once.
     *
     * @return the leases, or empty when at least one is not available; then the client releases the others
     */
    Mono<MultiLease> tryAcquire();

    /**
     * Takes all members, and waits for those that are not available as long as the shortest
     * {@link LockOptions#waitTimeout()} allows.
     *
     * @return the leases, never empty; fails with {@link LockTimeoutException} when the time is over. The exception
     *     names the member that the acquisition waited for, or the first member for which the back end has not answered
     */
    Mono<MultiLease> acquire();

    /**
     * Runs work under all locks: acquires, subscribes to the work, releases, and then emits the result of the work.
     *
     * @param work lazy: it must do nothing before the subscription
     * @param <T> the result of the work
     * @return see {@link #withLock(Function)}
     */
    <T> Mono<T> withLock(Mono<? extends T> work);

    /**
     * Runs work under all locks, as {@link ReactiveLock#withLock(Function)} does under one. That method says what work
     * that blocks needs. When one lease is lost, the work is cancelled, the client releases the others in the
     * background, and signals {@link LockLostException} with the name of the lost one.
     *
     * @param work a function from the leases to lazy work
     * @param <T> the result of the work
     * @return the result of the work; fails like {@link #acquire()}, like the work, or with {@link LockLostException}
     */
    <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<? extends T>> work);

    /**
     * Runs work of many elements under all locks. Elements are emitted as they arrive; completion waits for the
     * release.
     *
     * @param work a function from the leases to lazy work
     * @param <T> the elements of the work
     * @return the elements of the work; ends like {@link #withLock(Function)}
     */
    <T> Flux<T> withLockMany(Function<? super MultiLease, ? extends Publisher<? extends T>> work);
}
