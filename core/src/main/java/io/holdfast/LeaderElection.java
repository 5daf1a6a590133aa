package io.holdfast;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One of many candidates leads at a time: the one that holds the mutex of the election's name. Stateless, cheap, shareable.
 *
 * <pre>{@code
 * Flux<Heartbeat> leading = locks.election("billing").lead(lease -> heartbeats(lease.fencingToken()));
 * }</pre>
 *
 * <p><b>A candidate</b> is a subscription to {@link #lead}. It waits for its turn as {@link ReactiveLock#acquire} does, runs its term under the lease,
 * and has no state besides. Several in one process are several candidates. The lock is that of {@link LockClient#lock} with the same name: an election
 * and a user of the lock exclude each other.
 *
 * <p><b>Terms do not overlap</b> in the sense of {@link LockLease}: a leader is told of a loss, and its term cancelled, before the lock is released for
 * another candidate, and each term has a higher fencing token than all before it. A step of a term that runs on another thread at that moment is
 * not waited for. Neither is a term that ignores its cancellation, or that cleans up asynchronously: the next term may begin meanwhile, here or
 * elsewhere. So what a leader writes should carry its token.
 *
 * <p>Not for users to implement.
 */
public interface LeaderElection {

    /**
     * The name.
     *
     * @return as given to the client
     */
    String name();

    /**
     * The same election with other options. {@link LockOptions#leaseDuration()} bounds how long a crash keeps the others waiting.
     * {@link LockOptions#backoff()} has the pauses before a candidate stands again. {@link LockOptions#waitTimeout()} bounds each wait for a term; without
     * one, the default, a candidate waits for ever.
     *
     * @param options for candidates of the copy
     * @return a copy; this one stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    LeaderElection with(LockOptions options);

    /**
     * Stands for election. Cold: nothing happens before a subscriber has asked for an element, and each subscription is a candidate.
     *
     * <ul>
     *   <li>When it is elected, the term is subscribed to, with the lease in the Reactor Context as {@link ReactiveLock#withLock} has it. Its elements pass as
     *       they come; demand counts over all terms.
     *   <li>When the term completes, or fails, the candidate resigns: the lock is released, and then that is signalled.
     *   <li>When the lease is lost, the term is cancelled, and the candidate stands again after a pause of the back-off. A term that fails with
     *       the {@link LockLostException} of its own lease counts as lost, too.
     *   <li>When the store fails while the candidate stands, and trying again may help ({@link LockBackendException#isTransient()}), it stands again
     *       after a pause. So it lives through an outage of the store. The log warns once for each row of failures.
     *   <li>When the subscriber cancels, the term is cancelled and the lock released, or the place in the queue given up. Nothing stays held.
     * </ul>
     *
     * <p>A term that blocks needs threads, see {@link ReactiveLock#withLock(Function)}.
     *
     * <p>The pauses double from one failure or loss to the next, as the back-off says; a term that lasts for longer than a lease starts them anew.
     *
     * @param term from the lease to a lazy term. It is called for each term
     * @param <T> what terms emit
     * @return what the terms emit. Ends as the term that ends by itself does. Besides it fails with {@link LockLostException} if the release of a term that
     *     has completed finds out that its lease was lost before; with {@link LockTimeoutException} after a {@code waitTimeout}; with
     *     {@link LockBackendException} if the store refuses for good; with {@link LockQueueFullException}; and with {@link LockClosedException}
     */
    <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<T>> term);

    /**
     * Tells who leads. Cold: each subscription asks the store once; cancelling it has no effect. The answer may be out of date when it arrives, so
     * nothing may be decided by it that needs the lead.
     *
     * @return the holder of the lock; empty when there is none. Fails with {@link LockBackendException} when the store did not answer within the
     *     operation timeout, with {@link LockClosedException}, and with {@link UnsupportedOperationException} on a back end without
     *     {@link io.holdfast.spi.LockFeature#HOLDERS}
     */
    Mono<LockHolder> leader();
}
