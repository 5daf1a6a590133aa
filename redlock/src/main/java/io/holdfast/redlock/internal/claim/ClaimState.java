package io.holdfast.redlock.internal.claim;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Mailbox;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The state of one claim at this client: how each master knows it, its present round, and the token that a majority
 * holds. Thread-safe, except for the rounds: only events of the mailbox use those.
 */
public final class ClaimState {

    private final String id;
    private final Mailbox mailbox = newMailbox();
    private final RoundQueue rounds = new RoundQueue(mailbox);

    /** Called when the claim gets another id at a master. */
    private final List<IntConsumer> renamed = new CopyOnWriteArrayList<>();

    // All below: guarded by this.
    private final ClaimAtMasters there;
    private final Contention contention = new Contention();

    /** With which each master granted the claim; 0 until the client has seen the answer to the last attempt there. */
    private final long[] tokens;

    private final BitSet lost = new BitSet();
    private final BitSet restoring = new BitSet();
    private long token;
    private long validUntilNanos;
    private long touchedAtNanos;
    private long leaseNanos;
    private boolean everWon;
    private boolean closed;
    private @Nullable ClaimRound round;

    /**
     * Begins without a round.
     *
     * @param generation how many ids the claim had at each master before
     */
    public ClaimState(String id, int masters, int generation) {
        this.id = id;
        there = new ClaimAtMasters(id, masters, generation);
        tokens = new long[masters];
    }

    String id() {
        return id;
    }

    /** Makes a mailbox. What an event throws is a defect, and the later events are handled all the same. */
    public static Mailbox newMailbox() {
        return new Mailbox(defect -> Operators.onErrorDropped(defect, Context.empty()));
    }

    /** Handles the events of the claim. */
    public Mailbox mailbox() {
        return mailbox;
    }

    /** Runs the round now, or when the rounds before it are over. */
    public void enter(Runnable next) {
        rounds.enter(next);
    }

    /** The round is over. */
    public void exit() {
        rounds.exit();
    }

    /** Returns the claim as this master knows it. */
    public synchronized LockClaim at(int master, LockClaim claim) {
        return there.at(master, claim);
    }

    /**
     * Returns the claim with the number of the next attempt at this master, which is about to be sent.
     *
     * @param by the round that wants to send it
     * @return null if another round has begun since, or if the claim was released: then the attempt must not be sent,
     *     since undoing it would end the grants of the other round
     */
    public synchronized @Nullable LockClaim nextAttempt(
            ClaimRound by, int master, LockClaim claim, Waiting waiting, long floor) {
        if (closed || round != by) {
            return null;
        }
        tokens[master] = 0;
        return there.next(master, claim, waiting, floor);
    }

    /** The client has seen the answer to an attempt. */
    public synchronized void answered(int master, LockClaim attempt) {
        there.answered(master, attempt);
    }

    /** Returns the claim to release at this master. No more requests go there under the id of that attempt. */
    public LockClaim retire(int master, LockClaim attempt) {
        LockClaim last;
        synchronized (this) {
            if (!there.isPresent(master, attempt)) {
                return attempt; // retired before; a second release does no harm
            }
            last = there.retire(master, attempt);
        }
        renamed.forEach(watcher -> watcher.accept(master));
        return last;
    }

    /** Whether that attempt has the id that the claim has at this master now. */
    public synchronized boolean isPresent(int master, LockClaim attempt) {
        return there.isPresent(master, attempt);
    }

    /**
     * Returns the claim to release at this master for good.
     *
     * @param isLastAwaited whether the round still awaits the answer to the last attempt there
     */
    public synchronized LockClaim toRelease(int master, LockClaim claim, boolean isLastAwaited) {
        return there.toRelease(master, claim, isLastAwaited);
    }

    /** Whether it is certain that this master got no attempt for the claim: then there is nothing to release there. */
    public synchronized boolean hasNoAttemptAt(int master) {
        return round != null && there.hasNoAttemptAt(master);
    }

    public void onRename(IntConsumer watcher) {
        renamed.add(watcher);
    }

    public void offRename(IntConsumer watcher) {
        renamed.remove(watcher);
    }

    public boolean isWatched() {
        return !renamed.isEmpty();
    }

    /** Makes this round the present one, and returns the one before it, whose late answers are in the way now. */
    public synchronized @Nullable ClaimRound begin(ClaimRound next, long nowNanos) {
        ClaimRound before = round;
        round = next;
        touchedAtNanos = nowNanos;
        return before;
    }

    /**
     * A majority holds the claim.
     *
     * @return false if the claim was released meanwhile: then it must not be held
     */
    public synchronized boolean held(long itsToken, long untilNanos) {
        if (closed) {
            return false;
        }
        everWon = true;
        token = itsToken;
        validUntilNanos = untilNanos;
        contention.won();
        return true;
    }

    synchronized void touch(long nowNanos, long lease) {
        touchedAtNanos = nowNanos;
        leaseNanos = Math.max(leaseNanos, lease);
    }

    /** A majority has confirmed the claim. */
    public synchronized void confirmed(long untilNanos, long nowNanos) {
        if (validUntilNanos - nowNanos > 0 && untilNanos - validUntilNanos > 0) {
            validUntilNanos = untilNanos;
        }
    }

    /** Returns the attempt that restores the lease at this master; null if it must not be restored. */
    public synchronized @Nullable LockClaim attemptToRestore(int master, LockClaim claim, long nowNanos) {
        if (token == 0 || closed || restoring.get(master) || validUntilNanos - nowNanos <= 0) {
            return null;
        }
        restoring.set(master);
        tokens[master] = 0;
        return there.next(master, claim, Waiting.NONE, token);
    }

    public synchronized void restorationEnded(int master) {
        restoring.clear(master);
    }

    /**
     * The lease is lost: from now on it is not restored.
     *
     * @return whether it was held until now
     */
    @CanIgnoreReturnValue
    public synchronized boolean notHeld() {
        boolean was = token != 0;
        token = 0;
        return was;
    }

    /** Whether a round was begun. */
    public synchronized boolean hasRound() {
        return round != null;
    }

    public synchronized boolean isHeld() {
        return token != 0;
    }

    /** The token; 0 if the claim is not held. */
    public synchronized long token() {
        return token;
    }

    /**
     * A master has signalled that it lost the claim. Returns how many masters have lost it and have not held it since.
     */
    public synchronized int lostAt(int master) {
        lost.set(master);
        return lost.cardinality();
    }

    /**
     * A master confirmed that it holds the claim.
     *
     * @return whether the client has seen the answer to its last attempt there
     */
    public synchronized boolean heldAt(int master) {
        lost.clear(master);
        return tokens[master] != 0;
    }

    /** A master granted the claim with that token. */
    public synchronized void grantedAt(int master, long itsToken) {
        lost.clear(master);
        tokens[master] = itsToken;
    }

    /** Returns the token with which each master granted the claim, 0 if it is not known. */
    public synchronized long[] tokens() {
        return tokens.clone();
    }

    /**
     * Whether a majority may be free, if these masters have changed since the last round and the others have not.
     *
     * @param changed by master
     */
    public boolean mayBeFree(boolean[] changed) {
        ClaimRound last = round();
        return last == null || last.mayBeFree(changed);
    }

    /** Whether a round is under way whose answer decides what to do next. */
    public boolean hasOpenRound() {
        ClaimRound present = round();
        return present != null && present.isOpen();
    }

    private synchronized @Nullable ClaimRound round() {
        return round;
    }

    /** A signal makes the claim send attempts. */
    public synchronized void signalled() {
        contention.signalled();
    }

    public synchronized void roundLost(boolean wasSplit, long tookNanos) {
        contention.lost(wasSplit, tookNanos);
    }

    /** Returns how many rounds in a row failed by contention. */
    public synchronized int contentionLevel() {
        return contention.level();
    }

    public synchronized long roundNanos() {
        return contention.roundNanos();
    }

    /** The claim is released: the round under way must not win any more. */
    public synchronized Closed close() {
        closed = true;
        token = 0;
        return new Closed(round, round != null && !everWon);
    }

    /**
     * The state of a claim at its release.
     *
     * @param round the last round; its unanswered attempts can be stopped
     * @param isNeverWon whether attempts were sent and no round has won, as far as this client knows
     */
    public record Closed(@Nullable ClaimRound round, boolean isNeverWon) {}

    public synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Whether the masters have forgotten the claim: no caller has sent a request for so long, and no subscriber gets
     * its signals.
     */
    synchronized boolean isForgotten(long nowNanos) {
        return !isWatched() && nowNanos - touchedAtNanos > 2 * leaseNanos;
    }

    @Override
    public synchronized String toString() {
        return "ClaimState[%s, token %d]".formatted(there, token);
    }
}
