package io.holdfast.zookeeper;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Sends something small on a session that has been idle for a while, so that there is always a request of which it is known when it was
 * answered: without one, the first lease after a pause would rest on the belief that the driver's own pings went out and arrived. The
 * driver, in turn, has less to send. On the strand only.
 */
final class Pulse {

    /** A session that is over negotiates nothing. */
    private static final Duration SHORTEST = Duration.ofMillis(10);

    /** What it does, with a session that is connected. */
    interface Beat {

        /** Nothing was sent for a while. */
        void idle(Session session);

        /** Each time, about as often. */
        void always(Session session);
    }

    private final Strand strand;
    private final Beat beat;
    private final Disposable.Swap timer = Disposables.swap();

    /** The last one: what the timer of an earlier one has left on the strand does nothing. */
    private @Nullable Session kept;

    /** Does nothing yet. */
    Pulse(Strand strand, Beat beat) {
        this.strand = strand;
        this.beat = beat;
    }

    /** From now on for that session, and no other. */
    void keep(Session session) {
        kept = session;
        beatAfter(session, session.proof().pulse());
    }

    void stop() {
        timer.dispose();
    }

    private void beatAfter(Session session, Duration pause) {
        Duration bounded = pause.compareTo(SHORTEST) < 0 ? SHORTEST : pause;
        boolean unused = timer.update(strand.runAfter(bounded, () -> due(session)));
    }

    private void due(Session session) {
        boolean isKept = kept != null && kept.is(session);
        if (!isKept || timer.isDisposed() || !session.isAlive()) {
            return;
        }
        Duration pulse = session.proof().pulse();
        Duration left = pulse.minus(session.proof().sinceLastSent(strand.now()));
        boolean isIdle = left.compareTo(SHORTEST) <= 0;
        if (session.isConnected()) {
            if (isIdle) {
                beat.idle(session);
            }
            beat.always(session);
        }
        beatAfter(session, isIdle ? pulse : left);
    }
}
