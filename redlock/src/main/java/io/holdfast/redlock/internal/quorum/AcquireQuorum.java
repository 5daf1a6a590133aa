package io.holdfast.redlock.internal.quorum;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One round of attempts at all masters. It takes the answers in any order and returns what to do next. It uses no
 * clock, no thread and no Reactor.
 *
 * <p>The lock is won with a token T when a majority holds it with T or a higher one. T is the highest token of the
 * first majority that granted. Masters that granted a lower one get another attempt, with T as their floor.
 *
 * <p>Why every later owner's token T' is higher: the first majority that grants to the later owner shares a master with
 * the majority that holds the lock with T or more. That master grants to one after the other, so the later owner gets
 * more than T there, and T' is at least that. Without the write-back tokens may fall: with counters (10, 1, 1, 1, 1)
 * the first three give 11 to one owner, and the last three give 2 to the next. A grant above T counts: a majority has
 * to know the token of a lease as a floor, and the token at a master may be higher.
 *
 * <p>T is raised at all masters, so one broken or hostile master could use up the tokens of a lock for good. A grant
 * that is far ahead of this client's clock is therefore a failure, unless another master grants about the same token,
 * or a higher one. The bound moves with the clock, faster than grants raise a token: if a master once raised the others
 * to it, each client believes each of them later (unless a clock shows a time after 2077). A grant that is not believed is no vote, so it does not weaken the
 * proof above.
 *
 * <p>Not thread-safe: its user guards it.
 */
public final class AcquireQuorum {

    /** Tokens at masters that were raised together differ by one for each lost vote. */
    private static final long ABOUT_THE_SAME = 1L << 10;

    /** What to do next. */
    public sealed interface Next {

        /** Wait for more answers. */
        record Open() implements Next {}

        /** Send the claim again to these masters, with this floor. They count as not answered until then. */
        record Raise(long token, List<Integer> masters) implements Next {}

        /** A majority holds it. */
        record Won(long token, Duration lease) implements Next {}

        /** Other claims are in the way. */
        record Lost() implements Next {}

        /** A majority of the masters failed. */
        record Failed() implements Next {}

        /** The votes do not matter any more: the claim was released, or the caller of the round has left. */
        record GivenUp() implements Next {}
    }

    private enum Standing {
        PENDING,
        GRANTED,
        REFUSED,
        ABSTAINED,
        FAILED
    }

    private static final Next OPEN = new Next.Open();

    private final Standing[] standings;
    private final Acquired[] grants;
    private final @Nullable Duration[] withins;
    private final int majority;

    /** The highest token that is believed from one master alone. */
    private final long mostBelieved;

    /** Null for a new claim. */
    private final long @Nullable [] heldTokens;

    /** The token that a majority must hold; 0 until a majority has granted any. */
    private long token;

    private final boolean[] wasRaised;
    private boolean raised;

    private AcquireQuorum(int masters, long mostBelieved, long token, long @Nullable [] heldTokens) {
        standings = new Standing[masters];
        Arrays.fill(standings, Standing.PENDING);
        grants = new Acquired[masters];
        withins = new Duration[masters];
        wasRaised = new boolean[masters];
        majority = VoteCount.majorityOf(masters);
        this.mostBelieved = mostBelieved;
        this.token = token;
        this.heldTokens = heldTokens;
    }

    /**
     * Begins the round of a new claim.
     *
     * @param nowMicros what this client's wall clock shows
     */
    public static AcquireQuorum of(int masters, long nowMicros) {
        return new AcquireQuorum(masters, TokenFloor.mostBelieved(nowMicros), 0, null);
    }

    /**
     * Begins the round of a claim that holds the lock. The claim keeps it if a majority still has the very grant from
     * before, not a new one.
     *
     * @param token of the lease, or the higher one that its owner wants
     * @param heldTokens with which each master granted it, 0 if that is not known
     */
    public static AcquireQuorum ofHolder(long token, long[] heldTokens) {
        return new AcquireQuorum(heldTokens.length, Long.MAX_VALUE, token, heldTokens);
    }

    void heard(int master, LockAttempt answer) {
        if (answer instanceof Acquired acquired) {
            grants[master] = acquired;
            boolean ignoresTheFloor = wasRaised[master] && acquired.fencingToken() < token;
            standings[master] =
                    ignoresTheFloor ? Standing.FAILED : Standing.GRANTED; // the round does not send attempts for ever
        } else {
            standings[master] = Standing.REFUSED;
            withins[master] = answer instanceof LockAttempt.Queued queued
                    ? queued.nextAttemptWithin()
                    : ((LockAttempt.Contended) answer).nextAttemptWithin();
        }
    }

    void failed(int master) {
        standings[master] = Standing.FAILED;
    }

    /**
     * The master may not vote for a known time, and did nothing. It counts as failed, since no other owner is in the
     * way.
     */
    void abstained(int master) {
        standings[master] = Standing.ABSTAINED;
    }

    /** Whether the master refused, or abstained from its first vote: then nothing has to be undone there. */
    boolean hasRefused(int master) {
        return standings[master] == Standing.REFUSED
                || (standings[master] == Standing.ABSTAINED && grants[master] == null);
    }

    boolean isPending(int master) {
        return standings[master] == Standing.PENDING;
    }

    /** Returns how many masters have granted it. */
    int granted() {
        int granted = 0;
        for (int i = 0; i < standings.length; i++) {
            granted += isGranted(i) ? 1 : 0;
        }
        return granted;
    }

    /** Whether the master has granted it with a token that is too far ahead. */
    boolean isDisbelieved(int master) {
        return standings[master] == Standing.GRANTED && !isBelieved(master);
    }

    int rounds() {
        return raised ? 2 : 1;
    }

    Next next() {
        if (token == 0 && granted() >= majority) {
            token = highestGranted();
        }
        VoteCount votes = votes();
        if (token != 0) {
            if (votes.yes() >= majority) {
                return new Next.Won(token, lease());
            }
            List<Integer> below = below();
            if (!below.isEmpty()) {
                raised = true;
                return new Next.Raise(token, below);
            }
        }
        return switch (heldTokens == null ? votes.ofElection() : votes.ofHolding()) {
            case YES, OPEN -> OPEN;
            case NO -> new Next.Lost();
            case UNKNOWN -> new Next.Failed();
        };
    }

    /** Returns the highest token of any grant that came; 0 without one. */
    long highestGranted() {
        long highest = 0;
        for (int i = 0; i < standings.length; i++) {
            highest = isGranted(i) ? Math.max(highest, grants[i].fencingToken()) : highest;
        }
        return highest;
    }

    /**
     * Returns when a majority may be free, as the masters report it. Masters that said yes are free now, and the last
     * master that a majority needs decides.
     *
     * @param fallback if too few masters have answered
     */
    Duration majorityFreeWithin(Duration fallback) {
        return Stream.concat(
                        Collections.nCopies(granted(), Duration.ZERO).stream(),
                        Arrays.stream(withins).flatMap(Stream::ofNullable))
                .sorted()
                .skip(majority - 1L)
                .findFirst()
                .orElse(fallback);
    }

    /** Takes the masters that granted a lower token: they get another attempt. */
    private List<Integer> below() {
        List<Integer> below = new ArrayList<>();
        for (int i = 0; i < standings.length; i++) {
            if (isGranted(i) && grants[i].fencingToken() < token) {
                below.add(i);
                wasRaised[i] = true;
            }
        }
        below.forEach(master -> standings[master] = Standing.PENDING);
        return below;
    }

    private VoteCount votes() {
        int yes = 0;
        int no = 0;
        int failed = 0;
        for (int i = 0; i < standings.length; i++) {
            switch (standings[i]) {
                case PENDING -> {}
                case GRANTED -> {
                    boolean isKnown = isBelieved(i) && !mayBeOld(i);
                    failed += isKnown ? 0 : 1;
                    yes += isKnown && counts(i) ? 1 : 0;
                    no += isKnown && !counts(i) ? 1 : 0;
                }
                case REFUSED -> no++;
                case ABSTAINED, FAILED -> failed++;
            }
        }
        return new VoteCount(standings.length, yes, no, failed);
    }

    /** Returns how long a majority keeps the lock at least: the shortest of the longest leases that make a majority. */
    private Duration lease() {
        Duration[] longestFirst = new Duration[standings.length];
        int count = 0;
        for (int i = 0; i < standings.length; i++) {
            if (isGranted(i) && counts(i)) {
                longestFirst[count++] = grants[i].lease();
            }
        }
        Arrays.sort(longestFirst, 0, count, Comparator.reverseOrder());
        return longestFirst[majority - 1];
    }

    private boolean counts(int master) {
        long granted = grants[master].fencingToken();
        return heldTokens == null ? granted >= token : granted == Math.max(token, heldTokens[master]);
    }

    /** Whether this may be the grant from before, whose token the client does not know, or a new one. */
    private boolean mayBeOld(int master) {
        return heldTokens != null && heldTokens[master] == 0 && grants[master].fencingToken() > token;
    }

    private boolean isGranted(int master) {
        return standings[master] == Standing.GRANTED && isBelieved(master);
    }

    private boolean isBelieved(int master) {
        long granted = grants[master].fencingToken();
        boolean isBelieved = granted <= Math.max(mostBelieved, token);
        for (int other = 0; other < standings.length && !isBelieved; other++) {
            isBelieved = other != master
                    && standings[other] == Standing.GRANTED
                    && grants[other].fencingToken() >= granted - ABOUT_THE_SAME;
        }
        return isBelieved;
    }
}
