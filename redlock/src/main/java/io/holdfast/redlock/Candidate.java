package io.holdfast.redlock;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What this client knows of one claim: under which id it stands at each master, and the token that a majority holds.
 *
 * <p>The id at a master is the claim's own until it was released there, then a new one: an id that was released is never used again at
 * that master. So a release that arrives late ends nothing that was granted after it, and the trace that it leaves for a look
 * still under way does not stop later looks. Thread-safe.
 */
final class Candidate {

    /** A window of 64 rounds: wide enough for as many contenders. */
    private static final int MOST_CROWD = 6;

    private final String id;
    private final int[] generations;
    private final int[] looks;

    /** Looks of the present id whose answer was not seen (yet). */
    private final int[] unanswered;

    private final long[] tokens;
    private final boolean[] lost;
    private final boolean[] returning;
    private final List<IntConsumer> renamed = new CopyOnWriteArrayList<>();

    // All below: guarded by this.
    private long token;
    private long validUntilNanos;
    private long touchedAtNanos;
    private long leaseNanos;
    private int crowd;
    private boolean signalled;
    private long roundNanos;
    private boolean everWon;
    private boolean closed;
    private @Nullable AcquireRound round;
    private boolean isInRound;
    private final Queue<Runnable> nextRounds = new ArrayDeque<>(1);

    /** What was made last: the masters mostly know the claim by the same id and number, and get the same object then. */
    private @Nullable LockClaim made;

    Candidate(String id, int masters) {
        this.id = id;
        generations = new int[masters];
        looks = new int[masters];
        unanswered = new int[masters];
        tokens = new long[masters];
        lost = new boolean[masters];
        returning = new boolean[masters];
    }

    String id() {
        return id;
    }

    /** One round after the other: two of one claim at once could undo each other's votes. Runs it now, or when the rounds before are over. */
    void enter(Runnable next) {
        synchronized (this) {
            if (isInRound) {
                nextRounds.add(next);
                return;
            }
            isInRound = true;
        }
        next.run();
    }

    /** The round is over. */
    void exit() {
        Runnable next;
        synchronized (this) {
            next = nextRounds.poll();
            isInRound = next != null;
        }
        if (next != null) {
            next.run();
        }
    }

    /** The claim as this master knows it. */
    synchronized LockClaim at(int master, LockClaim claim) {
        return known(master, claim, Math.max(1, looks[master]));
    }

    /**
     * The claim with the number of the next look at this master, which is about to be sent.
     *
     * @param by the round that wants to send it
     * @return null when another round has begun since, or the claim was released: then it must not be sent, since undoing it would end what
     *     the other round gets
     */
    synchronized @Nullable LockClaim look(AcquireRound by, int master, LockClaim claim, Waiting waiting, long floor) {
        return closed || round != by ? null : look(master, claim, waiting, floor);
    }

    private LockClaim look(int master, LockClaim claim, Waiting waiting, long floor) {
        looks[master]++;
        unanswered[master]++;
        return known(master, claim, looks[master], waiting, floor);
    }

    /** The answer of a look was seen. */
    synchronized void answered(int master, LockClaim look) {
        if (look.id().equals(idAt(master))) {
            unanswered[master]--;
        }
    }

    /**
     * The claim to release at this master, for which it is not looked for any more under that id.
     *
     * @param look the look to undo
     */
    LockClaim retire(int master, LockClaim look) {
        LockClaim last;
        synchronized (this) {
            if (!look.id().equals(idAt(master))) {
                return look; // retired before; once more does no harm
            }
            last = toRelease(master, look, false);
            generations[master]++;
            looks[master] = 0;
            unanswered[master] = 0;
        }
        renamed.forEach(watcher -> watcher.accept(master));
        return last;
    }

    /** Whether that look carries the id that the claim has at this master now. */
    synchronized boolean isPresent(int master, LockClaim look) {
        return look.id().equals(idAt(master));
    }

    /**
     * The claim to release at this master for good.
     *
     * @param isLastAwaited whether the answer to the last look there is still awaited. Then the release follows that look, or makes the master
     *     remember it by a count that the master has not seen yet
     */
    synchronized LockClaim toRelease(int master, LockClaim claim, boolean isLastAwaited) {
        int sent = looks[master] == 0 ? claim.attempt() : looks[master];
        int givenUp = unanswered[master] - (isLastAwaited ? 1 : 0);
        // A count that the master has not seen makes it remember the release, for the look that may still arrive there.
        return known(master, claim, givenUp > 0 ? sent + 1 : sent);
    }

    private LockClaim known(int master, LockClaim claim, int attempt) {
        return known(master, claim, attempt, claim.waiting(), claim.tokenFloor());
    }

    private LockClaim known(int master, LockClaim claim, int attempt, Waiting waiting, long floor) {
        String there = idAt(master);
        LockClaim last = made;
        if (last == null
                || last.attempt() != attempt
                || last.tokenFloor() != floor
                || last.waiting() != waiting
                || !last.id().equals(there)
                || !last.lease().equals(claim.lease())
                || !last.key().equals(claim.key())) {
            last = new LockClaim(claim.key(), there, claim.lease(), waiting, attempt, floor);
            made = last;
        }
        return last;
    }

    private String idAt(int master) {
        return generations[master] == 0 ? id : id + "." + generations[master];
    }

    void onRename(IntConsumer watcher) {
        renamed.add(watcher);
    }

    void offRename(IntConsumer watcher) {
        renamed.remove(watcher);
    }

    boolean isWatched() {
        return !renamed.isEmpty();
    }

    /** Makes this round the present one, and gives the one before it, whose late answers are in the way now. */
    synchronized @Nullable AcquireRound begin(AcquireRound next, long nowNanos) {
        AcquireRound before = round;
        round = next;
        touchedAtNanos = nowNanos;
        return before;
    }

    /**
     * A majority holds it.
     *
     * @return false when the claim was released meanwhile: then it must not be held
     */
    synchronized boolean held(long itsToken, long untilNanos) {
        if (closed) {
            return false;
        }
        everWon = true;
        token = itsToken;
        validUntilNanos = untilNanos;
        crowd = 0;
        return true;
    }

    synchronized void touch(long nowNanos, long lease) {
        touchedAtNanos = nowNanos;
        leaseNanos = Math.max(leaseNanos, lease);
    }

    /** A majority has confirmed it. */
    synchronized void confirmed(long untilNanos, long nowNanos) {
        if (validUntilNanos - nowNanos > 0 && untilNanos - validUntilNanos > 0) {
            validUntilNanos = untilNanos;
        }
    }

    /** The look that puts the lease back at this master now; null when it may not be put back. */
    synchronized @Nullable LockClaim lookToPutBack(int master, LockClaim claim, long nowNanos) {
        if (token == 0 || closed || returning[master] || validUntilNanos - nowNanos <= 0) {
            return null;
        }
        returning[master] = true;
        return look(master, claim, Waiting.NONE, token);
    }

    synchronized void putBackEnded(int master) {
        returning[master] = false;
    }

    /**
     * The lease is lost: nothing is put back any more.
     *
     * @return whether it was held until now
     */
    @CanIgnoreReturnValue
    synchronized boolean notHeld() {
        boolean was = token != 0;
        token = 0;
        return was;
    }

    /** Whether looks were sent and none of them has won, as far as this client knows. */
    synchronized boolean isNeverWon() {
        return round != null && !everWon;
    }

    /** Whether a look was begun. */
    synchronized boolean wasAsked() {
        return round != null;
    }

    synchronized boolean isHeld() {
        return token != 0;
    }

    synchronized long token() {
        return token;
    }

    /** A master told that it lost the claim; gives how many have, that did not hold it since. */
    synchronized int lostAt(int master) {
        lost[master] = true;
        int count = 0;
        for (boolean is : lost) {
            count += is ? 1 : 0;
        }
        return count;
    }

    /** A master confirmed that it holds the claim. */
    synchronized void heldAt(int master) {
        lost[master] = false;
    }

    /** A master granted the claim, or confirmed it, with that token. */
    synchronized void grantedAt(int master, long itsToken) {
        lost[master] = false;
        tokens[master] = itsToken;
    }

    /** The token with which each master granted the claim, 0 where it is not known. */
    synchronized long[] tokens() {
        return tokens.clone();
    }

    /**
     * Whether a majority may be free, when these masters have changed since the last look and the others have not.
     *
     * @param changed by master
     */
    boolean mayBeFree(boolean[] changed) {
        AcquireRound last;
        synchronized (this) {
            last = round;
        }
        return last == null || last.mayBeFree(changed);
    }

    /** Whether a round is under way whose answer decides what to do next. */
    boolean isLooking() {
        AcquireRound present;
        synchronized (this) {
            present = round;
        }
        return present != null && present.isOpen();
    }

    /** A signal makes the claim look. */
    synchronized void signalled() {
        signalled = true;
    }

    /** A look was lost: in vain, when the votes were split, or when a signal had asked for it, which others got as well. */
    synchronized void roundLost(boolean wasSplit, long tookNanos) {
        crowd = wasSplit || signalled ? Math.min(MOST_CROWD, crowd + 1) : Math.max(0, crowd - 1);
        signalled = false;
        roundNanos = tookNanos;
    }

    /** How crowded it is: how many looks in a row were in vain. */
    synchronized int crowd() {
        return crowd;
    }

    synchronized long roundNanos() {
        return roundNanos;
    }

    /** The claim is released: a round that is under way must not win any more. Gives the round, whose requests can be stopped. */
    synchronized @Nullable AcquireRound close() {
        closed = true;
        token = 0;
        return round;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Whether nobody has asked about it for so long that the stores have forgotten it. */
    synchronized boolean isForgotten(long nowNanos) {
        return nowNanos - touchedAtNanos > 2 * leaseNanos;
    }

    @Override
    public synchronized String toString() {
        return "Candidate[%s, token %d, generations %s]".formatted(id, token, Arrays.toString(generations));
    }
}
