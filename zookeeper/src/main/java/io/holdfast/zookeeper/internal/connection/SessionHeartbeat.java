package io.holdfast.zookeeper.internal.connection;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Asks the leader something small on a session that has not asked it for a while, so that there is always an answer from which the next
 * transaction proves something: see {@link SessionValidity}. The driver, in turn, has less to send. On the executor only.
 */
final class SessionHeartbeat {

    /** A session that is over negotiates nothing. */
    private static final Duration SHORTEST = Duration.ofMillis(10);

    /** What it does, with a session that is connected. */
    interface Beat {

        /** The leader was not asked for a while. */
        void askTheLeader(Session session);

        /** Each time, about as often. */
        void always(Session session);
    }

    private final SerialExecutor executor;
    private final Beat beat;
    private final Disposable.Swap timer = Disposables.swap();

    /** The last one: what the timer of an earlier one has left on the executor does nothing. */
    private @Nullable Session kept;

    /** Does nothing yet. */
    SessionHeartbeat(SerialExecutor executor, Beat beat) {
        this.executor = executor;
        this.beat = beat;
    }

    /** From now on for that session, and no other. */
    void keep(Session session) {
        kept = session;
        beatAfter(session, session.validity().heartbeat());
    }

    void stop() {
        timer.dispose();
    }

    private void beatAfter(Session session, Duration pause) {
        Duration bounded = pause.compareTo(SHORTEST) < 0 ? SHORTEST : pause;
        boolean unused = timer.update(executor.runAfter(bounded, () -> due(session)));
    }

    private void due(Session session) {
        boolean isKept = kept != null && kept.is(session);
        if (!isKept || timer.isDisposed() || !session.isAlive()) {
            return;
        }
        Duration heartbeat = session.validity().heartbeat();
        Duration left = heartbeat.minus(session.validity().sinceLeaderWasAsked(executor.now()));
        boolean isIdle = left.compareTo(SHORTEST) <= 0;
        if (session.isConnected()) {
            if (isIdle) {
                beat.askTheLeader(session);
            }
            beat.always(session);
        }
        beatAfter(session, isIdle ? heartbeat : left);
    }
}
