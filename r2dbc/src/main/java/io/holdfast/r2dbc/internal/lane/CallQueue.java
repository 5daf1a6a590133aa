package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.protocol.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The calls that wait for a connection. Decides what that connection does next, and does nothing itself. Safe for threads. */
final class CallQueue {

    /** Renewals and releases: a lease may depend on them, and a lock. They go before all claims. */
    private final Deque<Call> urgent = new ArrayDeque<>();

    /** Attempts to acquire. */
    private final Deque<Call> claims = new ArrayDeque<>();

    private BatchLimit limit = new BatchLimit(BatchLimit.MOST);

    /** Whether the connection is in use. */
    private boolean isBusy;

    /** Whether the next batch has calls of one lock only, and waits for its row. */
    private boolean isRowAwaited;

    /** Calls of a higher rank stay out of the next batch. */
    private int highestRank = Call.LAST_RANK;

    private boolean isClosed;

    /** Whether to sweep when no call waits. */
    private boolean isSweepDue;

    /** What becomes of calls that are added. */
    enum Admission {
        /** The connection was not in use, and is now: ask for the next step. */
        STARTS,
        /** They go with a later batch. */
        WAITS,
        /** The queue is closed. */
        REFUSED
    }

    /** What the connection does next. */
    enum Action {
        SEND,
        /** Deletes what is out of date. */
        SWEEP,
        /** Nothing, until calls are added. */
        REST,
        /** The queue is closed: no step follows. */
        END
    }

    /**
     * What the connection does next.
     *
     * @param batch to send, in this order; empty for other actions
     */
    record Step(Action action, List<Call> batch) {}

    /**
     * The end of the queue.
     *
     * @param refused the calls that were not sent
     * @param isOver whether the connection is not in use, so that no step follows
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
     * They come first in the next batch. False when the queue is closed.
     *
     * @param awaitsRow whether the next batch has calls of one lock only
     * @param rank the highest of the next batch
     */
    synchronized boolean putBack(List<Call> calls, boolean awaitsRow, int rank) {
        isRowAwaited = awaitsRow && !isClosed;
        highestRank = rank;
        for (int i = calls.size() - 1; i >= 0 && !isClosed; i--) {
            queueOf(calls.get(i)).addFirst(calls.get(i));
        }
        return !isClosed;
    }

    /** Sweeps as soon as no call waits. */
    synchronized Admission addSweep() {
        isSweepDue = !isClosed;
        return isSweepDue ? start() : Admission.REFUSED;
    }

    private Admission start() {
        Admission admission = isBusy ? Admission.WAITS : Admission.STARTS;
        isBusy = true;
        return admission;
    }

    /** The calls at the front; without any, the connection is free again, or ends. */
    synchronized Step next() {
        List<Call> batch = batch();
        if (batch.isEmpty() && highestRank < Call.LAST_RANK) {
            // The subscribers of those for which the others stay out have left.
            highestRank = Call.LAST_RANK;
            batch = batch();
        }
        highestRank = Call.LAST_RANK;
        isRowAwaited = false;
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

    /** No more calls. */
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
     * The next batch is as large as this one lets expect.
     *
     * @param calls that were sent
     * @param tookMillis until their answer
     * @param limitMillis of a reply
     */
    synchronized void took(int calls, long tookMillis, long limitMillis) {
        limit = limit.after(calls, tookMillis, limitMillis);
    }

    private Deque<Call> queueOf(Call call) {
        return call.operation().verb() == Operation.Verb.ACQUIRE ? claims : urgent;
    }

    private List<Call> batch() {
        List<Call> batch = new ArrayList<>();
        takeFrom(urgent, batch);
        takeFrom(claims, batch);
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
        return next.rank() <= highestRank && (!isRowAwaited || batch.isEmpty() || next.isOfSameLock(batch.get(0)));
    }
}
