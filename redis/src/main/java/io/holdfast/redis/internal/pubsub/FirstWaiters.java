package io.holdfast.redis.internal.pubsub;

import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The waiters of this client for each lock, in their order. The first of them sends an attempt within each claim time: a server detects
 * that another client has vanished only by an attempt. The others need not, so this costs an attempt for each lock and client.
 *
 * <p>A waiter that is first at an answer gets that time with it. For one that becomes the first later there is one task for all
 * locks, which mostly finds that the first waiter is another one than before.
 */
final class FirstWaiters {

    private final Duration claimTime;
    private final BiConsumer<Duration, Runnable> later;
    private final Consumer<String> wake;

    /** By the key of the lock; guarded by this, as the others. */
    private final Map<String, Line> lines = new LinkedHashMap<>();

    private boolean isPlanned;

    private static final class Line {

        private final Set<String> waiting = new LinkedHashSet<>();

        /** The first waiter that has a time, by its own answer or by the task; empty for none. */
        private String told = "";

        /** The first waiter at the last run of the task. */
        private String seen = "";

        String first() {
            return waiting.iterator().next();
        }
    }

    /**
     * Begins without waiters.
     *
     * @param later runs a task after a pause
     * @param wake receives the id of a claim that is to send an attempt
     */
    FirstWaiters(Duration claimTime, BiConsumer<Duration, Runnable> later, Consumer<String> wake) {
        this.claimTime = claimTime;
        this.later = later;
        this.wake = wake;
    }

    /** Adds a waiter, which may be there already. Returns its answer, with the claim time if it is the first one. */
    synchronized LockAttempt.Queued queued(String lock, String claimId, LockAttempt.Queued answer) {
        Line line = lines.computeIfAbsent(lock, key -> new Line());
        line.waiting.add(claimId);
        plan();
        if (!line.first().equals(claimId)) {
            return answer;
        }
        line.told = claimId;
        return answer.nextAttemptWithin().compareTo(claimTime) > 0 ? new LockAttempt.Queued(claimTime) : answer;
    }

    /** The claim does not wait any more. */
    synchronized void left(String lock, String claimId) {
        Line line = lines.get(lock);
        if (line != null && line.waiting.remove(claimId) && line.waiting.isEmpty()) {
            lines.remove(lock);
        }
    }

    private void plan() {
        if (!isPlanned && !lines.isEmpty()) {
            isPlanned = true;
            later.accept(claimTime.dividedBy(2), () -> due().forEach(wake));
        }
    }

    /** A waiter that is the first one for the second time, and has no time yet, is due. */
    private synchronized List<String> due() {
        isPlanned = false;
        plan();
        List<String> due = new ArrayList<>();
        for (Line line : lines.values()) {
            String first = line.first();
            if (!first.equals(line.told) && first.equals(line.seen)) {
                line.told = first;
                due.add(first);
            }
            line.seen = first;
        }
        return due;
    }
}
