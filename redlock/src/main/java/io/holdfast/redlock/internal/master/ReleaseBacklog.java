package io.holdfast.redlock.internal.master;

import io.holdfast.spi.LockClaim;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The releases in the background for one master. A limited number is under way at once, the others wait, and those that
 * exceed the room to wait are refused. After a failure the master gets a pause, and then one release at a time until it
 * answers. Thread-safe.
 */
final class ReleaseBacklog {

    /**
     * A release to send.
     *
     * @param expiresAtNanos when the master has ended the vote by itself
     */
    record Release(LockClaim claim, long expiresAtNanos) {}

    private final int mostUnderWay;
    private final int mostWaiting;

    // All below: guarded by this.
    private final Queue<Release> waiting = new ArrayDeque<>();
    private int underWay;
    private boolean wasFull;

    /** The number of pauses since the last answer. */
    private int failures;

    private boolean isPaused;
    private boolean isClosing;

    /** Whether a thread sends. If a release ends at once, that thread sends the next one, without a deeper stack. */
    private boolean isSending;

    ReleaseBacklog(int mostUnderWay, int mostWaiting) {
        this.mostUnderWay = mostUnderWay;
        this.mostWaiting = mostWaiting;
    }

    /** The result of adding a release. */
    enum Admission {
        ADDED,
        REFUSED,
        /** The first refused one since there was room. */
        FIRST_REFUSED
    }

    synchronized Admission add(Release release) {
        if (waiting.size() < mostWaiting) {
            waiting.add(release);
            return Admission.ADDED;
        }
        Admission admission = wasFull ? Admission.REFUSED : Admission.FIRST_REFUSED;
        wasFull = true;
        return admission;
    }

    /**
     * Returns the release to send now.
     *
     * @param isAnother whether this thread has just sent one
     * @return null if there is none, or if another thread sends it
     */
    synchronized @Nullable Release begin(boolean isAnother) {
        if (isSending && !isAnother) {
            return null;
        }
        Release next = underWay < mostNow() ? waiting.poll() : null;
        isSending = next != null;
        if (next != null) {
            underWay++;
            wasFull &= waiting.size() > mostWaiting / 2;
        }
        return next;
    }

    private int mostNow() {
        if (isClosing) {
            return mostUnderWay;
        }
        if (isPaused) {
            return 0;
        }
        return failures > 0 ? 1 : mostUnderWay;
    }

    /** The release was not sent: the master has ended the vote by itself. */
    synchronized void skipped() {
        underWay--;
    }

    /** The master has answered a release. */
    synchronized void answered() {
        underWay--;
        failures = 0;
    }

    /**
     * A release has failed.
     *
     * @param again to be sent again, as the last one; null if it is left to expire
     */
    synchronized void failed(@Nullable Release again) {
        underWay--;
        if (again != null) {
            waiting.add(again);
        }
    }

    /**
     * Pauses: the master has just failed to answer a release. No release is sent until {@link #resume}.
     *
     * @return the number of pauses since the last answer, with this one; 0 if a pause is under way, or if there are no
     *     more pauses
     */
    synchronized int pause() {
        if (isPaused || isClosing) {
            return 0;
        }
        isPaused = true;
        return ++failures;
    }

    /** The pause is over. */
    synchronized void resume() {
        isPaused = false;
    }

    /** Ends the pauses for good. */
    synchronized void close() {
        isClosing = true;
    }
}
