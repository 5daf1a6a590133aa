package io.holdfast.internal.tenure;

import io.holdfast.internal.tenure.LocalClaim.Standing;
import io.holdfast.internal.timing.SentAttempts;
import io.holdfast.internal.timing.Validity;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Sinks;

/** One claim at the back end: its place in the queue there, and then the tokens that it may hand over. */
final class Tenure {

    final TenureRules of;

    /** The claim at the back end, as its first attempt carries it. */
    final LockClaim atStore;

    SentAttempts sent = SentAttempts.NONE;
    private long firstSentAtNanos;

    // Its place in the queue of the back end.

    /** The number of the attempt in flight, 0 for none. */
    int attemptInFlight;

    /** Whether an attempt was never answered: it may still arrive, although later ones were answered. */
    boolean isUnanswered;

    /** Whether to send an attempt before {@link #attemptAgainAtNanos}. */
    boolean isDue;

    long attemptAgainAtNanos;

    /** A claim has to send an attempt by then, so that the back end does not treat the tenure as abandoned. */
    long attendedUntilNanos;

    boolean isWatched;

    /** Its watch is starting; its first attempt is sent after that. */
    boolean isStarting;

    boolean isArmed;

    /** Its watch, for the reactive part. It may be disposed before it has started. */
    final Disposable.Swap watch = Disposables.swap();

    // Its hold.

    @Nullable
    LocalClaim owner;

    /** Attempts up to this number were sent before the grant was known. */
    int grantedAtAttempt;

    long token;

    long storeToken;

    /** The back end has acknowledged that no other claim gets a token up to this one. */
    long ceiling;

    boolean isReserving;

    boolean isDoubted;

    private int handOvers;
    private boolean isShortened;
    private long shortenedAtNanos;
    private long begunAtNanos;
    long validUntilNanos;

    /** The back end ends the tenure then, if its clock runs as fast as this one. */
    long expiresAtNanos;

    /** Continues the release of the owner, which was postponed. */
    Sinks.@Nullable Empty<Void> postponed;

    // Its end.

    /** A claim of this process releases it, with the number of its last attempt: a later attempt takes nothing. */
    boolean isReleased;

    /** The tenure whose place is withdrawn when this one is released. */
    @Nullable
    Tenure withdrawn;

    Tenure(TenureRules of, LockClaim atStore) {
        this.of = of;
        this.atStore = atStore;
    }

    LockClaim claim() {
        return atStore.withAttempt(Math.max(1, sent.last()));
    }

    /** The claim for its release, with a number that is later than each attempt that may still arrive. */
    LockClaim lastClaim() {
        return isUnanswered ? atStore.withAttempt(sent.last() + 1) : claim();
    }

    LockClaim nextAttempt(long now) {
        firstSentAtNanos = sent.last() == 0 ? now : firstSentAtNanos;
        sent = sent.plus(now);
        if (grantedAtAttempt == 0) {
            expiresAtNanos = now + atStore.lease().toNanos(); // a lock that this attempt may take has ended by then
        }
        return atStore.withAttempt(sent.last());
    }

    /** A forgotten attempt counts from the first one, which is too early, and never too late. */
    long sentAt(int attempt) {
        return sent.knows(attempt) ? sent.sentAt(attempt) : firstSentAtNanos;
    }

    void begin(long granted, long until, long expires, long now) {
        grantedAtAttempt = sent.last();
        grantedAnew(granted);
        validUntilNanos = until;
        expiresAtNanos = expires;
        begunAtNanos = now;
    }

    /** Sets a new token. Another owner may have held the lock in between, so a block of tokens is void. */
    void grantedAnew(long granted) {
        token = granted;
        storeToken = granted;
        ceiling = granted;
    }

    LockClaim reserve(long floor, long now) {
        isReserving = true;
        return nextAttempt(now).withWaiting(Waiting.NONE).withTokenFloor(floor);
    }

    /** The back end has acknowledged the block. The time counts from now, since there was no hand-over before. */
    void acknowledged(long floor, long now) {
        storeToken = floor;
        ceiling = floor;
        begunAtNanos = now;
    }

    /**
     * Records a request with a shorter lease. With or without an answer, it may let the back end end this tenure
     * earlier. The back end may carry out earlier requests before it, so their answers no longer extend the tenure.
     */
    void shorten(Duration lease, long now) {
        long leaseNanos = lease.toNanos();
        if (leaseNanos >= atStore.lease().toNanos()) {
            return;
        }
        isShortened = true;
        shortenedAtNanos = now;
        long until = Validity.until(now, leaseNanos);
        if (until - validUntilNanos < 0) {
            validUntilNanos = until;
            expiresAtNanos = now + leaseNanos;
        }
    }

    void extend(long sentAtNanos, long leaseNanos) {
        if (isShortened && sentAtNanos - shortenedAtNanos < 0) {
            return;
        }
        long until = Validity.until(sentAtNanos, leaseNanos);
        if (until - validUntilNanos > 0) {
            validUntilNanos = until;
            expiresAtNanos = sentAtNanos + leaseNanos;
        }
        isDoubted = false;
    }

    boolean isWithin(Bounds bounds, long now) {
        return handOvers < bounds.maxHandOvers() && now - begunAtNanos < bounds.nanos() && !isDoubted;
    }

    /** Returns whether the back end grants the next token to no other claim. */
    boolean hasNextToken() {
        return token < ceiling;
    }

    void takeNextToken() {
        token++;
        handOvers++;
    }

    void own(LocalClaim claim) {
        owner = claim;
        claim.tenure = this;
        claim.standing = Standing.OWNER;
        claim.token = token;
        claim.validUntilNanos = validUntilNanos;
    }

    /** The lease that an owner counts from its attempt, so that its deadline is not after that of the tenure. */
    long leaseFor(LocalClaim claim) {
        long toExpiry = expiresAtNanos - claim.attemptedAtNanos;
        if (Validity.until(claim.attemptedAtNanos, toExpiry) - validUntilNanos > 0) {
            long valid = validUntilNanos - claim.attemptedAtNanos;
            return Math.max(0, valid + valid / 100 + 2 * TenureRules.MILLI);
        }
        return toExpiry;
    }

    /** Returns the claim to release together with this tenure, if no claim of this process wants its place. */
    @Nullable
    LockClaim withdrawn() {
        return withdrawn == null ? null : withdrawn.lastClaim();
    }

    @Override
    public String toString() {
        return "tenure %s, attempt %d, owner %s".formatted(atStore.id(), sent.last(), owner);
    }
}
