package io.holdfast.spi;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A store that can hold locks: what Redis, ZooKeeper, a quorum of masters or the memory of this JVM have to offer.
 *
 * <p>Rules for every method that returns a publisher, except {@link #close()}:
 *
 * <ul>
 *   <li><b>cold</b>: nothing is sent before subscription, and each subscription sends once;
 *   <li><b>non-blocking</b>, on any thread, also the first call;
 *   <li><b>idempotent per claim</b>: the same claim sent twice has the effect of one, and gets the same token;
 *   <li><b>a failure means unknown</b>: it is signalled as {@link io.holdfast.LockBackendException}; the request may or may
 *       not have been carried out, and may still be carried out later;
 *   <li><b>cancelling</b> a subscription means that nobody waits for the answer any more. A request that was not sent yet
 *       must not be sent then; one that was sent counts as unknown.
 * </ul>
 *
 * <p>{@code LockBackendContract} in {@code holdfast-testkit} is this interface's specification in executable form.
 */
public interface LockBackend {

    /**
     * Takes the lock for this claim, confirms that the claim holds it, or tells that it is not available.
     *
     * <p>A claim that already holds the lock keeps it with the same token, and its expiry is set anew. A claim whose
     * {@link LockClaim#waiting()} is {@link Waiting#QUEUE} takes a place in the queue when the lock is not available, and
     * keeps that place when sent again. A claim with {@link Waiting#NONE} leaves nothing behind when it is not granted, and
     * never passes living waiters. A claim that would make a queue longer than the store allows is refused with
     * {@link io.holdfast.LockQueueFullException}, and leaves nothing behind. A claim that was released before is not granted by a request sent before that release.
     *
     * <p>A read/write lock: a claim stands as a reader or as a writer. An attempt of {@link LockKind#WRITE} never makes a writer of a reader: it is
     * not available, and changes nothing. With {@link LockFeature#DOWNGRADE}, an attempt of {@link LockKind#READ} makes a reader of the claim that
     * holds the lock as a writer: with the same token and a new expiry, and without an instant at which another writer may hold. The readers at
     * the head of the queue join it at once. No later renewal, and no late attempt of the writer, makes it a writer again.
     *
     * <p>A back end that may not grant for a known time, such as a store that was restarted, fails with {@link
     * LockBackendException#notYet}: that is no contention, and nothing was done. The engine waits for that time before its next attempt,
     * and waits through any number of such failures in a row.
     *
     * @param claim the claim; {@link LockClaim#attempt()} numbers its attempts
     * @return exactly one answer
     */
    Mono<LockAttempt> tryAcquire(LockClaim claim);

    /**
     * Sets the expiry of a held claim anew. Never creates: a claim that does not hold the lock stays without it.
     *
     * @param claim the claim
     * @return {@link Renewal.Held} with the duration promised from the moment the store processed the request, or
     *     {@link Renewal.NotHeld}; what is unknown is a failure here
     */
    Mono<Renewal> renew(LockClaim claim);

    /**
     * Ends the claim whatever its standing: held, queued or unknown. A held lock goes to the next waiter at once.
     *
     * @param claim the claim
     * @return {@link Ownership#HELD} when this very request ended a held claim, else {@link Ownership#NOT_HELD}
     */
    Mono<Ownership> release(LockClaim claim);

    /**
     * Signals about one claim, from subscription until cancellation. Never completes by itself; an error means that the
     * signals stopped, and the engine polls from then on.
     *
     * <p>The engine subscribes before the first attempt of a claim, and stays subscribed while the lock is held. A back end
     * that has to pay for its channel opens it when it first answers {@link LockAttempt.Queued} or
     * {@link LockAttempt.Contended}, not before.
     *
     * <p>The default never signals: a back end that is only polled is a correct one.
     *
     * @param claim the claim
     * @return the signals
     */
    default Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.never();
    }

    /**
     * Renews many claims. The default renews one by one; a store that can do it in one request should.
     *
     * <p>A store of several parts answers {@link Renewal.Unknown} for the claims of a part that fails, or that is much slower
     * than the others, so that it does not endanger the leases in those.
     *
     * @param claims held claims, of any locks
     * <p>Each answer counts when it is emitted. So a store that gets the answers one by one should not keep them until the last.
     *
     * @return one answer per claim, in the order of {@code claims}; an error leaves those without an answer unknown
     */
    default Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.fromIterable(claims)
                .flatMapSequential(claim ->
                        renew(claim).onErrorResume(LockBackendException.class, e -> Mono.just(new Renewal.Unknown(e))));
    }

    /**
     * Asks which claims hold a lock now. Writes nothing in the store, ends no hold and serves no waiter.
     *
     * <p>A claim whose lease is over holds nothing, although it may still be stored. A grant that was pushed to a waiter and is not confirmed yet counts.
     * The default fails with {@link UnsupportedOperationException}.
     *
     * @param key which lock; {@link LockKey#permits()} does not matter, and for either side of a read/write lock the holders of both sides are told
     * @return the holders, those with lower tokens first; empty when no claim holds the lock. A store may leave out some of more than 100
     * @see LockFeature#HOLDERS
     */
    default Flux<LockHolder> holders(LockKey key) {
        return Flux.error(() -> new UnsupportedOperationException(
                "back end %s cannot tell the holders of a lock: it does not have %s, only %s"
                        .formatted(name(), LockFeature.HOLDERS, features())));
    }

    /**
     * Asks the store for a sign of life.
     *
     * @return completes when the store answered, else a {@link io.holdfast.LockBackendException}
     */
    default Mono<Void> ping() {
        return Mono.empty();
    }

    /**
     * Refuses a lease that this back end cannot keep safe with its own settings. Asked when a lock is made, not when it is acquired. The default
     * accepts any lease.
     *
     * @param lease {@link io.holdfast.LockOptions#leaseDuration()} of the lock
     * @throws IllegalArgumentException names both settings and their values
     */
    default void checkLease(Duration lease) {}

    /**
     * Tells what this back end offers beyond an exclusive lock.
     *
     * @return an immutable set, always the same
     */
    Set<LockFeature> features();

    /**
     * Names this back end for messages and metrics, such as {@code redis} or {@code memory}. Holds no secrets.
     *
     * @return a short name
     */
    String name();

    /**
     * Gives back what this back end opened by itself: connections, threads, timers. Borrowed clients stay open. Held claims
     * are not released by this: the store frees them when their lease ends.
     *
     * <p>Unlike all other methods, it begins when it is called, without a subscriber: {@link Closing} does that. Idempotent.
     *
     * @return tells the end, and may be ignored
     */
    Mono<Void> close();
}
