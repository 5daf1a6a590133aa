package io.holdfast.proof.sim;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The sessions, as one leader counts their time: it ends a session that it has not heard of for its time-out, by its own clock. A new leader
 * begins anew with all of them.
 */
final class SessionTimers {

    private static final class Session {
        long heardAt;
        boolean isOver;

        /** Which server its last connection is to: what comes through another one is refused. */
        @Nullable
        ZooServer owner;
    }

    private final World world;
    private final long timeoutNanos;
    private final double rate;
    private final Runnable later;
    private final LongConsumer end;
    private final Map<Long, Session> sessions = new LinkedHashMap<>();

    /** No session that goes on was heard of before that. */
    private long heardLeast = Long.MAX_VALUE;

    /**
     * None yet.
     *
     * @param rate of the leader's clock
     * @param later by the leader's own timer: looks whether one is over
     * @param end ends one
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

    /** Looks whether it would have ended by now, even if the leader's own timer has not run. */
    boolean isAlive(long id) {
        expire();
        Session session = sessions.get(id);
        return session != null && !session.isOver;
    }

    void moved(long id, ZooServer to) {
        sessions.get(id).owner = to;
    }

    /** Whether it has connected to another server since. It belongs to the first that a new leader hears of it from. */
    boolean isElsewhere(long id, ZooServer server) {
        Session session = sessions.get(id);
        if (session != null && session.owner == null) {
            session.owner = server;
        }
        return session != null && session.owner != server;
    }
}
