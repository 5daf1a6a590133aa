package io.holdfast;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows the locks of a back end to operators: the holders of a lock, for how long, the waiters, the last token.
 * Inspecting writes nothing, ends no hold and serves no waiter. Only {@link #breakHold} changes a lock. No lock depends
 * on an inspector.
 *
 * <p>The builder of each back end makes one, with the address and the other settings of the back end:
 *
 * <pre>{@code
 * LockInspector inspector = RedisLockBackend.builder(uri).inspector();
 * Flux<String> slow = inspector.all()
 *         .filter(lock -> lock.waiterCount() > 100)
 *         .map(lock -> lock.name() + " is held by " + lock.holders().get(0).owner());
 * }</pre>
 *
 * <p>The methods that return a publisher are cold, except {@link #close()}: each subscription sends its own requests. A
 * failure is a {@link LockBackendException}. Its message says what to do. The inspector repeats nothing by itself. A
 * request without an answer fails within seconds, as the back end documents; a cancellation ends the waiting, and only a
 * request that was not sent yet. Signals arrive on threads of the back end: do not block there. Thread-safe. Applications do not implement this interface; authors of back ends do. New methods have a default.
 */
public interface LockInspector {

    /**
     * Inspects the locks of one name.
     *
     * @param name a lock name
     * @return up to three reports: the mutex, the read/write lock and the semaphore of that name, if the back end has
     *     data of them; empty when it has none
     * @throws IllegalArgumentException if it is no lock name
     */
    Flux<LockReport> inspect(String name);

    /**
     * Lists all locks that are held or waited for. It skips a lock of which only the last token is left.
     *
     * <p>This is no snapshot: a lock that is held during the whole listing is reported. A lock that appears or
     * disappears meanwhile may be reported or not.
     *
     * <p><b>A lock may be reported more than once</b>, since a listing in several requests may meet it again. Redis
     * repeats some names while its key space grows or shrinks. If you count locks, keep one report of each:
     * {@code distinct(lock -> List.of(lock.type(), lock.name()))}.
     *
     * @return the locks
     */
    Flux<LockReport> all();

    /**
     * Breaks the hold of a claim, as if that claim had released the lock. The first live waiter gets the lock, and the
     * next token is higher. <b>Until the former holder detects the loss, two clients work under the lock.</b> It
     * detects the loss at its next renewal, after a third of its lease at most, or earlier, as each back end documents.
     * Its lease is then lost with {@link LossReason#NOT_HELD}. Other holders of a read/write lock or a semaphore keep
     * their shares.
     *
     * <p>Sends one request at the subscription. A cancellation after that does not undo it. If it fails without an
     * answer, the back end may have carried it out: inspect the lock again.
     *
     * @param lockName the name of the lock
     * @param holder one of its holders, as this inspector reported it
     * @return true when the claim held the lock and no longer does; false when it did not hold
     * @throws IllegalArgumentException if it is no lock name
     */
    Mono<Boolean> breakHold(String lockName, LockHolder holder);

    /**
     * Closes the connections of this inspector. Borrowed connections stay open. Begins at the call. Idempotent.
     *
     * @return signals the end; you may ignore it
     */
    Mono<Void> close();
}
