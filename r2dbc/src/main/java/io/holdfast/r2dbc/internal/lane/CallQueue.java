package io.holdfast.r2dbc.internal.lane;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The calls that wait for a connection. This class decides the next step of that connection, but does no I/O. Thread-safe. */
final class CallQueue {

    /** Renewals and releases, on which a lease or a lock may depend. They go before all attempts. */
    private final Deque<Call> urgent = new ArrayDeque<>();

    /** Attempts to acquire. */
    private final Deque<Call> claims = new ArrayDeque<>();

    private BatchLimit limit = new BatchLimit(BatchLimit.MOST);

    /** Whether the connection is in use. */
    private boolean isBusy;

    /** Whether the next batch contains calls of one lock only, and waits for its row. */
    private boolean isRowAwaited;

    /** Calls of a higher rank are left out of the next batch. */
    private int highestRank = Call.LAST_RANK;

    /** Whether the next batch begins with attempts: the row of an urgent call stays locked. */
    private boolean areClaimsFirst;

    /** The last batch. */
    private List<Call> underWay = List.of();

    private boolean isClosed;

    /** Whether to delete outdated rows when no call waits. */
    private boolean isSweepDue;

    /** What happens to calls that are added. */
    enum Admission {
        /** The connection was idle and is in use from now on. The caller must take the next step. */
        STARTS,
        /** The calls go with a later batch. */
        WAITS,
        /** The queue is closed. */
        REFUSED
    }

    /** The next step of the connection. */
    enum Action {
        SEND,
        /** Deletes outdated rows. */
        SWEEP,
        /** Does nothing until calls are added. */
        REST,
        /** The queue is closed, and no step follows. */
        END
    }

    /**
     * The next step of the connection.
     *
     * @param batch the calls to send, in the order of their locks, so that no two batches wait for each other; empty for other actions
     */
    record Step(Action action, List<Call> batch) {}

    /**
     * The end of the queue.
     *
     * @param refused the calls that were not sent
     * @param isOver true if the connection is idle, so that no step follows
     */
    record Closing(List<Call> refused, boolean isOver) {}

    synchronized Admission add(List<Call> calls) {
        if (isClosed) {
            return Admission.REFUSED;
        }
        calls.forEach(it -> queueOf(it).add(it));
        return start();
    }

    /**
     * Puts calls at the front of the next batch. Returns false if the queue is closed.
     *
     * @param awaitsRow whether the next batch contains calls of one lock only
     * @param rank the highest rank in the next batch
     */
    synchronized boolean putBack(List<Call> calls, boolean awaitsRow, int rank) {
        isRowAwaited = awaitsRow && !isClosed;
        highestRank = rank;
        for (int i = calls.size() - 1; i >= 0 && !isClosed; i--) {
            queueOf(calls.get(i)).addFirst(calls.get(i));
        }
        return !isClosed;
    }

    /** Puts calls of one lock at the end of the queue, and behind them its later attempts. Returns false if the queue is closed. */
    synchronized boolean putLast(List<Call> calls) {
        if (!isClosed && !calls.isEmpty()) {
            List<Call> later =
                    claims.stream().filter(calls.get(0)::isOfSameLock).toList();
            claims.removeIf(calls.get(0)::isOfSameLock);
            calls.forEach(it -> queueOf(it).add(it));
            claims.addAll(later);
            areClaimsFirst = !calls.get(0).isAttempt();
        }
        return !isClosed;
    }

    /** Returns the locks for which an attempt waits or is under way. */
    synchronized Set<String> locksOfAttempts() {
        return Stream.concat(claims.stream(), underWay.stream())
                .filter(it -> it.isAttempt() && !it.isOver())
                .map(Call::lock)
                .collect(Collectors.toSet());
    }

    /** Deletes outdated rows as soon as no call waits. */
    synchronized Admission addSweep() {
        isSweepDue = !isClosed;
        return isSweepDue ? start() : Admission.REFUSED;
    }

    private Admission start() {
        Admission admission = isBusy ? Admission.WAITS : Admission.STARTS;
        isBusy = true;
        return admission;
    }

    /** Returns the next step: the calls at the front. Without any, the connection is idle again, or ends. */
    synchronized Step next() {
        List<Call> batch = batch();
        if (batch.isEmpty() && highestRank < Call.LAST_RANK) {
            // The subscribers of all calls for which the others were left out have cancelled.
            highestRank = Call.LAST_RANK;
            batch = batch();
        }
        highestRank = Call.LAST_RANK;
        isRowAwaited = false;
        areClaimsFirst = false;
        underWay = batch;
        if (!batch.isEmpty()) {
            return new Step(Action.SEND, batch);
        }
        if (isClosed) {
            return new Step(Action.END, batch);
        }
        isBusy = isSweepDue;
        isSweepDue = false;
        return new Step(isBusy ? Action.SWEEP : Action.REST, batch);
    }

    /** Closes the queue for further calls. */
    synchronized Closing close() {
        List<Call> refused = new ArrayList<>(urgent);
        refused.addAll(claims);
        urgent.clear();
        claims.clear();
        boolean isOver = !isBusy;
        isClosed = true;
        isBusy = true;
        return new Closing(refused, isOver);
    }

    /**
     * Adapts the size of the next batch to the time of this one.
     *
     * @param calls the number of calls that were sent
     * @param tookMillis the time until their answer
     * @param limitMillis the time limit of a reply
     */
    synchronized void took(int calls, long tookMillis, long limitMillis) {
        limit = limit.after(calls, tookMillis, limitMillis);
    }

    private Deque<Call> queueOf(Call call) {
        return call.isAttempt() ? claims : urgent;
    }

    private List<Call> batch() {
        List<Call> batch = new ArrayList<>();
        takeFrom(areClaimsFirst ? claims : urgent, batch);
        takeFrom(areClaimsFirst ? urgent : claims, batch);
        batch.sort(Call.BY_LOCK);
        return batch;
    }

    private void takeFrom(Deque<Call> queue, List<Call> batch) {
        while (!queue.isEmpty() && batch.size() < limit.calls() && goesWith(batch, queue.element())) {
            Call call = queue.remove();
            if (call.take()) {
                batch.add(call);
            }
        }
    }

    private boolean goesWith(List<Call> batch, Call next) {
        Call first = batch.isEmpty() ? next : batch.get(0);
        boolean isOfOneLock = isRowAwaited || next.isAlone() || first.isAlone();
        return next.rank() <= highestRank && (!isOfOneLock || next.isOfSameLock(first));
    }
}
