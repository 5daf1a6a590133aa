package io.holdfast.redlock.internal.master;

import io.holdfast.spi.LockClaim;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The releases in the background for one master: so many are under way at once, the others wait for them, and what is too much is refused.
 * Thread-safe.
 */
final class ReleaseBacklog {

    /**
     * A release to send.
     *
     * @param pause before it is sent
     * @param expiresAtNanos when the master has ended the vote by itself
     */
    record Release(LockClaim claim, Duration pause, long expiresAtNanos) {}

    private final int mostUnderWay;
    private final int mostWaiting;

    // All below: guarded by this.
    private final Queue<Release> waiting = new ArrayDeque<>();
    private int underWay;
    private boolean wasFull;

    /** Whether a thread sends: a release that ends at once then comes back to that thread, and not to a deeper stack. */
    private boolean isSending;

    ReleaseBacklog(int mostUnderWay, int mostWaiting) {
        this.mostUnderWay = mostUnderWay;
        this.mostWaiting = mostWaiting;
    }

    /** What became of a release. */
    enum Admission {
        ADDED,
        REFUSED,
        /** The first one since there was room. */
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
     * The release to send now.
     *
     * @param isAnother whether this thread has just sent one
     * @return null when there is none, or when another thread sends it
     */
    synchronized @Nullable Release begin(boolean isAnother) {
        if (isSending && !isAnother) {
            return null;
        }
        Release next = underWay < mostUnderWay ? waiting.poll() : null;
        isSending = next != null;
        if (next != null) {
            underWay++;
            wasFull &= waiting.size() > mostWaiting / 2;
        }
        return next;
    }

    /** One that was sent has ended. */
    synchronized void end() {
        underWay--;
    }
}
