package io.holdfast.spi;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.spi.support.Closing;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Keeps locks: in Redis, in ZooKeeper, in a database, on a quorum of masters or in the memory of this JVM.
 *
 * <p>Rules for every method that returns a publisher, except {@link #close()}:
 *
 * <ul>
 * <li><b>cold</b>: nothing is sent before the subscription, and each subscription sends once;
 * <li><b>non-blocking</b>, on any thread, also at the first call;
 * <li><b>idempotent per claim</b>: the same claim sent twice has the effect of one, and gets the same token;
 * <li><b>a failure means unknown</b>: it is signalled as {@link io.holdfast.LockBackendException}; the server may have
 *     carried out the request, may do so later, or never;
 * <li><b>cancelling</b> a subscription means that the caller does not need the answer any more. A request that was not
 *     sent yet must then not be sent; the outcome of a sent request is unknown.
 * </ul>
 *
 * <p>A later minor version may add methods, which have a default, and kinds, ways to wait and answers, which the client
 * uses only with a back end that declares a {@link LockFeature} for them. A decorator extends
 * {@link io.holdfast.spi.support.ForwardingLockBackend}, or leaves features out that it does not know.
 *
 * <p>{@code LockBackendContract} in {@code holdfast-testkit} is the executable specification of this interface.
 */
public interface LockBackend {

    /**
     * Takes the lock for this claim, confirms that the claim holds it, or reports that it is not available.
     *
     * <p>A claim that already holds the lock keeps it with the same token and a new expiry. A claim whose
     * {@link LockClaim#waiting()} is {@link Waiting#QUEUE} takes a place in the queue when the lock is not available,
     * and keeps that place when sent again. A claim with {@link Waiting#NONE} leaves nothing behind when it is not
     * granted, and never overtakes live waiters. A waiter that a grant would pass over is not live. A claim that would
     * make a queue longer than the back end allows fails with {@link io.holdfast.LockQueueFullException}, and leaves
     * nothing behind. After a claim was released, a request that was sent before that release does not grant it.
     *
     * <p>On a read/write lock, a claim is a reader or a writer. An attempt of {@link LockKind#WRITE} never turns a
     * reader into a writer: the lock is not available, and nothing changes. With {@link LockFeature#DOWNGRADE}, an
     * attempt of {@link LockKind#READ} turns the claim that holds the lock as a writer into a reader: with the same
     * token and a new expiry. No other writer can hold the lock in between. The readers at the head of the queue join
     * it at once. No later renewal, and no late attempt of the writer, turns it into a writer again.
     *
     * <p>The same attempt with the id of a member of a {@linkplain LockRun run} ends that run. The members before it
     * were served, it becomes a reader with its token as a member, and the members behind it keep their places. The
     * answer is {@link LockAttempt.Acquired}. A member that was withdrawn, an attempt without the client of the run, and
     * an overtaken attempt get {@link LockAttempt.Contended}, and change nothing.
     *
     * <p>A back end that may not grant for a known time, such as a restarted server, fails with
     * {@link LockBackendException#notYet}. That failure is no contention, and the request had no effect. The engine
     * waits for that time before its next attempt, however many such failures follow each other.
     *
     * @param claim the claim; {@link LockClaim#attempt()} numbers its attempts
     * @return exactly one answer
     */
    Mono<LockAttempt> tryAcquire(LockClaim claim);

    /**
     * Sets a new expiry for a held claim. Never grants: a claim that does not hold the lock stays without it.
     *
     * @param claim the claim
     * @return {@link Renewal.Held} with the duration counted from the moment the server processed the request, or
     *     {@link Renewal.NotHeld}; an unknown outcome is a failure here
     */
    Mono<Renewal> renew(LockClaim claim);

    /**
     * Renews a claim that another process has exported, if the claim holds the lock with this token. Otherwise it
     * changes nothing. A hold with another token is not the exported one: it began after the end of the exporter's
     * lease, when an attempt that the exporter had sent before arrived late. Never grants.
     *
     * <p>A back end with {@link LockFeature#HAND_ON} implements it. The default fails with
     * {@link UnsupportedOperationException}.
     *
     * @param claim the claim
     * @param fencingToken the token of the exported lease
     * @return as {@link #renew}
     */
    default Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return Mono.error(() -> new UnsupportedOperationException(
                "back end %s cannot adopt a claim of another process: it does not implement LockBackend.adopt"
                        .formatted(name())));
    }

    /**
     * Ends the claim, whether it is held, queued or unknown. A held lock goes to the next waiter at once.
     *
     * @param claim the claim
     * @return {@link Ownership#HELD} when this request ended a held claim, else {@link Ownership#NOT_HELD}
     */
    Mono<Ownership> release(LockClaim claim);

    /**
     * Ends a run, and serves the next waiters. If another run has the lock, or none, it frees nothing.
     *
     * <p>A back end with {@link LockFeature#RUNS} implements it. The default fails with
     * {@link UnsupportedOperationException}.
     *
     * @param claim a claim of the run
     * @param number {@link LockRun#number()}
     * @param served how many members, from the first on, are over: they were served, or withdrawn. The others keep
     *     their places
     * @return the end, and the next run if it is of the same client; the same when repeated
     */
    default Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return Mono.error(() -> new UnsupportedOperationException(
                "back end %s cannot end a run: it does not have %s".formatted(name(), LockFeature.RUNS)));
    }

    /**
     * Signals changes of one claim, from the subscription until the cancellation. Never completes by itself. After an
     * error no signals follow, and the engine polls.
     *
     * <p>The engine subscribes before the first attempt of a claim, and stays subscribed while the lock is held. A back
     * end whose channel has a cost opens it when it first answers {@link LockAttempt.Queued} or
     * {@link LockAttempt.Contended}, not before.
     *
     * <p>The default never signals: a back end may rely on polling alone.
     *
     * @param claim the claim
     * @return the signals
     */
    default Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.never();
    }

    /**
     * Renews many claims. The default renews them one by one; override it if the server can renew them in one request.
     *
     * <p>A back end of several servers answers {@link Renewal.Unknown} for the claims of a server that fails, or that
     * is much slower than the others. So that server does not endanger the leases of the others.
     *
     * <p>Each answer counts when it is emitted. So a back end that gets the answers one by one should not keep them
     * until the last.
     *
     * @param claims held claims, of any locks
     * @return one answer per claim, in the order of {@code claims}; after an error, the claims without an answer are
     *     unknown
     */
    default Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.fromIterable(claims)
                .flatMapSequential(claim ->
                        renew(claim).onErrorResume(LockBackendException.class, e -> Mono.just(new Renewal.Unknown(e))));
    }

    /**
     * Returns the claims that hold a lock now. Writes nothing on the server, ends no hold and serves no waiter.
     *
     * <p>A claim whose lease has ended holds nothing, although the server may still store it. A grant that was pushed
     * to a waiter and is not confirmed yet counts as a hold. The default fails with
     * {@link UnsupportedOperationException}.
     *
     * @param key the lock; {@link LockKey#permits()} does not matter, and for either side of a read/write lock the
     *     result has the holders of both sides
     * @return the holders, those with lower tokens first; empty when no claim holds the lock. A back end may leave out
     *     some of more than 100
     * @see LockFeature#HOLDERS
     */
    default Flux<LockHolder> holders(LockKey key) {
        return Flux.error(() -> new UnsupportedOperationException(
                "back end %s cannot report the holders of a lock: it does not have %s, only %s"
                        .formatted(name(), LockFeature.HOLDERS, new TreeSet<>(features()))));
    }

    /**
     * Sends a ping to the server.
     *
     * @return completes when the server answered, else fails with a {@link io.holdfast.LockBackendException}
     */
    default Mono<Void> ping() {
        return Mono.empty();
    }

    /**
     * Checks whether this back end, with its own settings, can keep a lease of this duration safe. The client calls it
     * when a lock is made, not when it is acquired. The default accepts any lease duration.
     *
     * @param lease {@link io.holdfast.LockOptions#leaseDuration()} of the lock
     * @throws IllegalArgumentException if it cannot; the message names both settings and their values
     */
    default void checkLease(Duration lease) {}

    /** {@return what this back end offers beyond an exclusive lock; immutable, always the same} */
    Set<LockFeature> features();

    /**
     * {@return the name of this back end for messages and metrics, such as {@code redis} or {@code memory}; it contains
     * no secrets}
     */
    String name();

    /**
     * Closes what this back end opened by itself: connections, threads, timers. Borrowed clients stay open. Held claims
     * are not released: the server frees them when their lease ends.
     *
     * <p>Unlike all other methods, it begins at the call, without a subscriber: {@link Closing} does that. Idempotent.
     *
     * @return signals the end; the caller may ignore it
     */
    Mono<Void> close();
}
