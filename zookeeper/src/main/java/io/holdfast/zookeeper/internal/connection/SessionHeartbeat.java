package io.holdfast.zookeeper.internal.connection;

import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * Sends the leader a small request if none was sent for a while. So there is always an answer that lets the next transaction prove
 * something: see {@link SessionValidity}. The driver, in turn, has fewer pings to send. On the executor only.
 */
final class SessionHeartbeat {

    /** The shortest pause. A session that is over reports a time-out of 0. */
    private static final Duration SHORTEST = Duration.ofMillis(10);

    private final SerialExecutor executor;
    private final Consumer<Session> atSilence;
    private final Consumer<Session> always;
    private final Disposable.Swap timer = Disposables.swap();

    /** The latest session. The timer of an earlier session may still run on the executor, and does nothing. */
    private @Nullable Session kept;

    /**
     * Starts no timer yet.
     *
     * @param atSilence called with a connected session when no request was sent to the leader for a while
     * @param always called with a connected session at each beat
     */
    SessionHeartbeat(SerialExecutor executor, Consumer<Session> atSilence, Consumer<Session> always) {
        this.executor = executor;
        this.atSilence = atSilence;
        this.always = always;
    }

    /** Beats for that session from now on, and for no other one. */
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
                atSilence.accept(session);
            }
            always.accept(session);
        }
        beatAfter(session, isIdle ? heartbeat : left);
    }
}
