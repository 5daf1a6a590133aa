package io.holdfast.proof.sim;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The sessions, as one leader counts their time. By its own clock, the leader ends a session from which it has no message for its time-out. A new leader
 * restarts all time-outs.
 */
final class SessionTimers {

    private static final class Session {
        long heardAt;
        boolean isOver;

        /** The server of its last connection: requests through another server are refused. */
        @Nullable
        ZooServer owner;
    }

    private final World world;
    private final long timeoutNanos;
    private final double rate;
    private final Runnable later;
    private final LongConsumer end;
    private final Map<Long, Session> sessions = new LinkedHashMap<>();

    /** The earliest last message of a live session. */
    private long heardLeast = Long.MAX_VALUE;

    /**
     * Makes timers without sessions.
     *
     * @param rate the rate of the leader's clock
     * @param later the leader's own timer, which checks whether a session is over
     * @param end ends a session
     */
    SessionTimers(World world, long timeoutNanos, double rate, Runnable later, LongConsumer end) {
        this.world = world;
        this.timeoutNanos = timeoutNanos;
        this.rate = rate;
        this.later = later;
        this.end = end;
    }

    void track(long id) {
        Session unused = sessions.computeIfAbsent(id, it -> new Session());
        heard(id);
    }

    void heard(long id) {
        Session session = sessions.get(id);
        if (session != null && !session.isOver) {
            session.heardAt = world.now();
            heardLeast = Math.min(heardLeast, session.heardAt);
            // At the earliest moment: where a tick ends is a matter of chance.
            world.after((long) (timeoutNanos / rate) + 1, later);
        }
    }

    void expire() {
        if (heardLeast == Long.MAX_VALUE || !isOver(heardLeast)) {
            return;
        }
        heardLeast = Long.MAX_VALUE;
        sessions.forEach((id, session) -> {
            if (session.isOver) {
                return;
            }
            if (isOver(session.heardAt)) {
                session.isOver = true;
                end.accept(id);
            } else {
                heardLeast = Math.min(heardLeast, session.heardAt);
            }
        });
    }

    private boolean isOver(long heardAt) {
        return (world.now() - heardAt) * rate >= timeoutNanos;
    }

    /** Returns whether a session still lives: false also if its time is over and the leader's own timer has not run. */
    boolean isAlive(long id) {
        expire();
        Session session = sessions.get(id);
        return session != null && !session.isOver;
    }

    void moved(long id, ZooServer to) {
        sessions.get(id).owner = to;
    }

    /** Returns whether the session has connected to another server since. With a new leader, it belongs to the first server that reports it. */
    boolean isElsewhere(long id, ZooServer server) {
        Session session = sessions.get(id);
        if (session != null && session.owner == null) {
            session.owner = server;
        }
        return session != null && session.owner != server;
    }
}
