package io.holdfast;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A look into the locks of a store, for operators: the holders of a lock, for how long, the waiters, the last token. Looking writes nothing, ends no
 * hold and serves no waiter. {@link #breakHold} is the one method that does. No lock depends on an inspector.
 *
 * <p>Each back end's builder makes one, with the address and the other settings of the back end:
 *
 * <pre>{@code
 * LockInspector inspector = RedisLockBackend.builder(uri).inspector();
 * Flux<String> slow = inspector.all()
 *         .filter(lock -> lock.waiterCount() > 100)
 *         .map(lock -> lock.name() + " is held by " + lock.holders().get(0).owner());
 * }</pre>
 *
 * <p>The methods that return a publisher are cold, but for {@link #close()}: each subscription asks anew. A failure is a {@link LockBackendException}. It
 * says what to do. Nothing is retried. Thread-safe. Users do not implement this.
 */
public interface LockInspector {

    /**
     * Looks at the locks of one name.
     *
     * @param name a lock name
     * @return one report each for the mutex, the read/write lock and the semaphore of that name, as far as the store knows anything of them;
     *     empty when it knows nothing
     * @throws IllegalArgumentException if it is no lock name
     */
    Flux<LockReport> inspect(String name);

    /**
     * Walks over all locks that are held or waited for. A lock of which only the last token is left is passed over.
     *
     * <p>This is no snapshot: a lock that is held during the whole walk is reported, as a rule once. One that comes or goes meanwhile may be reported
     * or not.
     *
     * @return the locks
     */
    Flux<LockReport> all();

    /**
     * Takes a lock away from a claim that holds it, as if that claim had released it: the first waiter that lives has the lock, and the next token
     * is higher. <b>Until the former holder learns of it, two clients work under the lock.</b> It learns of it by its next renewal, after a third of its lease
     * at most, or before, as each back end documents: its lease is then lost with {@link LossReason#NOT_HELD}. Other holders of a read/write lock or
     * a semaphore keep their shares.
     *
     * <p>Sent when subscribed. A cancel after that does not take it back. When it fails without an answer, it may have been carried out: look again.
     *
     * @param lockName the name of the lock
     * @param holder one of its holders, as this inspector told it
     * @return true when the claim held and does not any more; false when it did not hold
     * @throws IllegalArgumentException if it is no lock name
     */
    Mono<Boolean> breakHold(String lockName, LockHolder holder);

    /**
     * Closes the connections of this inspector. What was borrowed stays open. Begins when it is called. Idempotent.
     *
     * @return tells the end, and may be ignored
     */
    Mono<Void> close();
}
