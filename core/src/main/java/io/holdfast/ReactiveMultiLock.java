package io.holdfast;

import java.util.List;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Several locks that are taken together: all of them, or none. Stateless, cheap, shareable.
 *
 * <p><b>Order.</b> Members are waited for in one canonical order, whatever the order in which they were given: by name, as
 * {@link String#compareTo} has it. While an acquisition waits for a lock, it holds only locks before that one. So acquisitions of many
 * locks never wait for each other in a circle. A pipeline that holds a lock already and acquires many inside has an order of its own; give all
 * of them together instead.
 *
 * <p><b>Cost.</b> All that are available are taken at one time, in one round trip on back ends that send calls together. If some are not, it
 * waits for the first of these, and then tries the rest at one time again. What it has taken behind that one is released meanwhile.
 *
 * <p><b>Options.</b> Each member keeps those that it was given with; {@link #with} replaces them for all. The time limit concerns the whole: the
 * shortest {@link LockOptions#waitTimeout()} of all members, counted from the subscription.
 *
 * <p><b>Members.</b> A lock that was given twice is taken once, with the options of the first. Both sides of a read/write lock are its write side. A
 * member that this pipeline holds already, see {@link ReactiveLock}, is a nested lease. Of a semaphore one permit is taken.
 *
 * <p><b>Leaving</b>, laziness and threads are as {@link ReactiveLock} says: a subscriber may cancel at any instant, and nothing stays held or queued.
 * Listeners and meters are told of each member by itself: of what is tried and not available, too.
 *
 * <p><b>Errors</b> are those of {@link ReactiveLock}, and {@link LockException#lockName()} is the member that is to blame. A member that is lost while
 * others are waited for ends the acquisition with {@link LockLostException}; that happens when its lease cannot be renewed, or is not to be.
 *
 * <p>Not for users to implement.
 */
public interface ReactiveMultiLock {

    /**
     * The members.
     *
     * @return names in the canonical order, each once; unmodifiable
     */
    List<String> names();

    /**
     * The same locks with other options.
     *
     * @param options for each member
     * @return a copy; this one stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    ReactiveMultiLock with(LockOptions options);

    /**
     * Takes all if all are available now. One try of each, at one time.
     *
     * @return the leases, or empty when one at least is not available; then the others are being released
     */
    Mono<MultiLease> tryAcquire();

    /**
     * Takes all, waiting for those that are not available as long as the shortest {@link LockOptions#waitTimeout()} allows.
     *
     * @return the leases, never empty; fails with {@link LockTimeoutException} when the time is over, which names the member that was waited for, or
     *     the first one for which the store has not answered
     */
    Mono<MultiLease> acquire();

    /**
     * Runs work under all locks: acquires, subscribes to the work, releases, and then passes on how the work ended.
     *
     * @param work lazy: it must do nothing before it is subscribed to
     * @param <T> what the work gives
     * @return see {@link #withLock(Function)}
     */
    <T> Mono<T> withLock(Mono<T> work);

    /**
     * Runs work under all locks, as {@link ReactiveLock#withLock(Function)} does under one; that says what work that blocks needs. When one lease is lost, the work is cancelled, the
     * others are released in the background, and {@link LockLostException} is signalled, which names the lost one.
     *
     * @param work from the leases to lazy work
     * @param <T> what the work gives
     * @return what the work gives; fails like {@link #acquire()}, like the work, or with {@link LockLostException}
     */
    <T> Mono<T> withLock(Function<? super MultiLease, ? extends Mono<T>> work);

    /**
     * Runs work of many elements under all locks. Elements pass as they come, completion waits for the release.
     *
     * @param work from the leases to lazy work
     * @param <T> what the work gives
     * @return what the work gives; ends like {@link #withLock(Function)}
     */
    <T> Flux<T> withLockMany(Function<? super MultiLease, ? extends Publisher<T>> work);
}
