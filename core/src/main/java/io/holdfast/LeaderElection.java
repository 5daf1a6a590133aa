package io.holdfast;

import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Elects one of many candidates: the leader is the holder of the mutex of the election's name. Stateless, cheap,
 * shareable.
 *
 * <pre>{@code
 * Flux<Heartbeat> leading = locks.election("billing").lead(lease -> heartbeats(lease.fencingToken()));
 * }</pre>
 *
 * <p><b>A candidate</b> is a subscription to {@link #lead}. It waits for its turn as {@link ReactiveLock#acquire} does,
 * runs its term under the lease, and has no other state. Several subscriptions in one process are several candidates.
 * The mutex is that of {@link LockClient#lock} with the same name: an election and a user of the lock exclude each
 * other.
 *
 * <p><b>Terms do not overlap</b> in the sense of {@link LockLease}: a leader gets the signal of a loss, and its term is
 * cancelled, before the lock is released for another candidate. Each term has a higher fencing token than all terms
 * before it. The client does not wait for a step of a term that runs on another thread at that moment. It does not wait
 * for a term that ignores its cancellation, or that cleans up asynchronously. The next term may begin meanwhile, in
 * this process or another. So a leader should send its token with each write.
 *
 * <p>Signals arrive as {@link ReactiveLock} says. Users do not implement this interface.
 */
public interface LeaderElection {

    /** {@return the name, as given to the client} */
    String name();

    /**
     * Returns the same election with other options. {@link LockOptions#leaseDuration()} bounds how long a crash keeps
     * the other candidates waiting. {@link LockOptions#backoff()} has the pauses before a candidate stands again.
     * {@link LockOptions#waitTimeout()} bounds each wait for a term; without one, which is the default, a candidate
     * waits without a limit.
     *
     * @param options the options for candidates of the copy
     * @return a copy; this one stays as it is
     * @throws IllegalArgumentException if the options do not fit the client's operation timeout, or the back end's settings
     * @throws UnsupportedOperationException if they have a {@link LockOptions#minHoldTime()} that the back end cannot keep
     */
    LeaderElection with(LockOptions options);

    /**
     * Stands for election. Cold: nothing happens before a subscriber requests an element, and each subscription is a
     * candidate.
     *
     * <ul>
     * <li>When the candidate is elected, it subscribes to the term, with the lease in the Reactor Context as in
     *     {@link ReactiveLock#withLock}. The elements of the term are emitted as they arrive.
     * <li>When the term completes or fails, the candidate releases the lock, and then signals the end of the term.
     * <li>When the lease is lost, the term is cancelled, and the candidate stands again after a pause of the back-off.
     *     A term that fails with the {@link LockLostException} of its own lease counts as lost, too.
     * <li>When the back end fails while the candidate stands, and another attempt may help
     *     ({@link LockBackendException#isTransient()}), the candidate stands again after a pause. So it survives an
     *     outage of the back end. The client logs one warning for each series of failures.
     * <li>When the subscriber cancels, the term is cancelled and the lock released, or the place in the queue given up.
     *     Nothing stays held.
     * </ul>
     *
     * <p><b>A candidate stands only while its subscriber has unfulfilled demand.</b> Demand counts over all terms. When
     * the subscriber has got all elements that it requested, a term that runs goes on. After a loss, the candidate then
     * waits for the next request before it stands again, without a signal. {@code subscribe()} requests without a
     * limit. A subscriber with a limit that may process an element for long should not count on standing meanwhile.
     *
     * <p>A term that blocks needs threads, see {@link ReactiveLock#withLock(Function)}.
     *
     * <p>The pauses double from one failure or loss to the next, as the back-off says; after a term that lasts longer
     * than a lease, they start again with the first.
     *
     * @param term a function from the lease to a lazy term. The client calls it for each term
     * @param <T> what terms emit
     * @return the elements of the terms. Ends with the first term that completes, or fails by itself. It also fails
     *     with {@link LockLostException} if the release of a completed term detects that its lease was lost before. It
     *     fails with {@link LockTimeoutException} after a {@code waitTimeout}, and with {@link LockBackendException} if
     *     the failure of the back end is not transient. It fails with {@link LockQueueFullException}, and with
     *     {@link LockClosedException}, also when the candidate would stand again after {@link LockClient#drain()}
     */
    <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<? extends T>> term);

    /**
     * Reports the leader. Cold: each subscription sends one request; cancelling it has no effect. The answer may be out
     * of date when it arrives, so use it for no decision that needs the lead.
     *
     * @return the holder of the lock; empty when there is none. Fails with {@link LockBackendException} when the back
     *     end did not answer within the operation timeout, with {@link LockClosedException}, and with
     *     {@link UnsupportedOperationException} on a back end without {@link io.holdfast.spi.LockFeature#HOLDERS}
     */
    Mono<LockHolder> leader();
}
