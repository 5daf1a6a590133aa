package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.r2dbc.spi.Connection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * One connection, and the calls that wait for it. While one batch is under way, the next one gathers: so calls that meet share a transaction, and a
 * flush of the server's disk. The connection is made with the first call, and again after it was lost.
 *
 * <p>Subscribers are answered on the thread of the driver, or of the timer after a time limit.
 */
final class Lane {

    /** After so many batches the patient lane is asked to sweep; the database does that once a minute at most. */
    private static final int BATCHES_BETWEEN_SWEEPS = 64;

    private final Connections connections;
    private final SqlFailures failures;
    private final boolean isPatient;
    private final Supplier<String> channel;
    private final long claimMillis;

    /** Takes what is to be told to clients; gives back what is to be told to others. */
    private final Pushes pushes;

    /** Takes calls whose row another call has locked; null for the patient lane. */
    private final @Nullable Lane patient;

    /** Renewals and releases: a lease may depend on them, and a lock. They go before all claims. Guarded by this. */
    private final Deque<Call> urgent = new ArrayDeque<>();

    /** Attempts to acquire. Guarded by this. */
    private final Deque<Call> claims = new ArrayDeque<>();

    /** Guarded by this. */
    private BatchLimit limit = new BatchLimit(BatchLimit.MOST);

    /** Whether a batch is under way. Guarded by this. */
    private boolean isBusy;

    /** Whether the next batch has calls of one lock only, and waits for its row. Guarded by this; false but in the patient lane. */
    private boolean isRowAwaited;

    /** Calls of a higher rank stay out of the next batch. Guarded by this. */
    private int highestRank = Call.LAST_RANK;

    /** Guarded by this. */
    private boolean isClosed;

    /** Whether to sweep when no call waits. Guarded by this. */
    private boolean isSweepDue;

    /** Written by the batch under way. */
    private int batches;

    private final Sinks.Empty<Void> ended = Sinks.empty();

    /** Written by the batch under way. */
    private volatile @Nullable Connection connection;

    /** What a batch tells clients. */
    interface Pushes {

        /** Tells the claims of this client; gives the messages for others. */
        List<Push.Message> tell(List<Answer> told);
    }

    Lane(
            Connections connections,
            SqlFailures failures,
            Supplier<String> channel,
            long claimMillis,
            Pushes pushes,
            @Nullable Lane patient) {
        this.connections = connections;
        this.failures = failures;
        this.channel = channel;
        this.claimMillis = claimMillis;
        this.pushes = pushes;
        this.patient = patient;
        isPatient = patient == null;
    }

    void submit(List<Call> calls) {
        boolean isRefused;
        boolean isFirst = false;
        synchronized (this) {
            isRefused = isClosed;
            if (!isRefused) {
                calls.forEach(it -> queueOf(it).add(it));
                isFirst = !isBusy;
                isBusy = true;
            }
        }
        if (isRefused) {
            calls.forEach(this::failAsClosed);
        } else if (isFirst) {
            next();
        }
    }

    /** No more calls; the batch under way ends first. */
    Mono<Void> close() {
        List<Call> refused;
        boolean isIdle;
        synchronized (this) {
            isClosed = true;
            refused = new ArrayList<>(urgent);
            refused.addAll(claims);
            urgent.clear();
            claims.clear();
            isIdle = !isBusy;
            isBusy = true;
        }
        refused.forEach(this::failAsClosed);
        if (isIdle) {
            end();
        }
        return ended.asMono();
    }

    private void failAsClosed(Call call) {
        Operation refused = call.operation();
        deliver(() -> call.fail(failures.closed(refused.claim().key().name(), refused.subject())));
    }

    private void next() {
        List<Call> batch = take();
        if (!batch.isEmpty()) {
            send(batch);
        }
    }

    /** Deletes what is out of date, when no call waits. */
    private void sweepSoon() {
        boolean isFirst;
        synchronized (this) {
            isSweepDue = !isClosed;
            isFirst = isSweepDue && !isBusy;
            isBusy |= isFirst;
        }
        if (isFirst) {
            next();
        }
    }

    private void sweep() {
        Disposable unused = connected()
                .flatMap(open -> connections.limited(connections.dialect().sweep(open)))
                .subscribe(
                        nothing -> {},
                        error -> {
                            dropUnlessUsable(error);
                            next();
                        },
                        this::next);
    }

    /** Those at the front; when there is none, the lane is free again, or ends. */
    private List<Call> take() {
        List<Call> batch = new ArrayList<>();
        boolean isOver;
        boolean sweeps;
        synchronized (this) {
            takeFrom(urgent, batch);
            takeFrom(claims, batch);
            if (batch.isEmpty() && highestRank < Call.LAST_RANK) {
                // The subscribers of those for which the others stay out have left.
                highestRank = Call.LAST_RANK;
                takeFrom(urgent, batch);
                takeFrom(claims, batch);
            }
            highestRank = Call.LAST_RANK;
            isRowAwaited = false;
            sweeps = batch.isEmpty() && isSweepDue && !isClosed;
            isSweepDue &= !sweeps;
            isBusy = !batch.isEmpty() || sweeps || isClosed;
            isOver = batch.isEmpty() && isClosed;
        }
        if (isOver) {
            end();
        } else if (sweeps) {
            sweep();
        }
        return batch;
    }

    private Deque<Call> queueOf(Call call) {
        return call.operation().verb() == Operation.Verb.ACQUIRE ? claims : urgent;
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

    /** The one place that subscribes: a batch is never cancelled. It waits for a row only if it is of one lock. */
    private void send(List<Call> batch) {
        boolean waits = isPatient && batch.stream().allMatch(it -> it.isOfSameLock(batch.get(0)));
        List<Operation> operations = batch.stream().map(Call::toSend).toList();
        boolean isRenewal = batch.stream().allMatch(Call::isRenewal);
        Mono<List<Answer>> exchange = connected()
                .flatMap(open -> connections.limited((isRenewal
                                ? connections.dialect().renew(open, waits, operations)
                                : connections.dialect().call(open, channel.get(), claimMillis, waits, operations))
                        .collectList()));
        long startMillis = connections.timer().now(TimeUnit.MILLISECONDS);
        Disposable unused = exchange.subscribe(
                answers -> {
                    took(batch.size(), startMillis);
                    answered(batch, answers, waits);
                },
                error -> {
                    took(batch.size(), startMillis);
                    failed(batch, error);
                });
    }

    private synchronized void took(int calls, long startMillis) {
        long millis = connections.timer().now(TimeUnit.MILLISECONDS) - startMillis;
        limit = limit.after(calls, millis, connections.settings().replyTimeout().toMillis());
    }

    private Mono<Connection> connected() {
        Connection open = connection;
        return (open == null ? connections.open() : connections.living(open)).doOnNext(current -> connection = current);
    }

    private void answered(List<Call> batch, List<Answer> answers, boolean hasWaited) {
        List<Call> busy = new ArrayList<>();
        List<Answer> told = new ArrayList<>();
        for (Answer answer : answers) {
            if (answer.isPush()) {
                told.add(answer);
                continue;
            }
            Call call = batch.get(answer.number() - 1);
            if (answer.isBusy() && !hasWaited) {
                if (call.giveOn()) {
                    busy.add(call);
                }
            } else if (answer.isBusy()) {
                deliver(() -> failOne(call, new TimeoutException("its row is locked")));
            } else {
                deliver(() -> call.answer(answer));
            }
        }
        if (patient != null && !busy.isEmpty()) {
            patient.submit(busy);
        } else if (!busy.isEmpty()) {
            awaitRow(busy);
        }
        batches++;
        if (patient != null && batches % BATCHES_BETWEEN_SWEEPS == 0) {
            patient.sweepSoon();
        }
        tellOthers(told);
    }

    /** The first of their rows is waited for, and then all others are tried again: so none waits for a row that it does not need. */
    private void awaitRow(List<Call> busy) {
        Call first = busy.get(0);
        List<Call> ordered = new ArrayList<>(
                busy.stream().filter(it -> it.isOfSameLock(first)).toList());
        ordered.addAll(busy.stream().filter(it -> !it.isOfSameLock(first)).toList());
        putBack(ordered, true, Call.LAST_RANK);
    }

    /** They come first in the next batch. */
    private void putBack(List<Call> calls, boolean awaitsRow, int highest) {
        boolean isRefused;
        synchronized (this) {
            isRefused = isClosed;
            isRowAwaited = awaitsRow && !isRefused;
            highestRank = highest;
            for (int i = calls.size() - 1; i >= 0 && !isRefused; i--) {
                queueOf(calls.get(i)).addFirst(calls.get(i));
            }
        }
        if (isRefused) {
            calls.forEach(this::failAsClosed);
        }
    }

    private void tellOthers(List<Answer> told) {
        List<Push.Message> messages = told.isEmpty() ? List.of() : pushes.tell(told);
        Connection open = connection;
        if (messages.isEmpty() || open == null) {
            next();
            return;
        }
        // A message that is lost costs its waiter a claim time.
        Disposable unused = connections
                .limited(connections.dialect().push(open, messages))
                .subscribe(
                        nothing -> {},
                        error -> {
                            dropUnlessUsable(error);
                            next();
                        },
                        this::next);
    }

    private void failed(List<Call> batch, Throwable error) {
        dropUnlessUsable(error);
        boolean isUndone = failures.isUndone(error);
        int highest = batch.stream().mapToInt(Call::rank).max().orElse(0);
        // On a full disk, calls that need less room than others may succeed without these.
        int retried = isUndone ? Call.LAST_RANK : failures.isRefused(error) ? highest - 1 : -1;
        List<Call> again = new ArrayList<>();
        for (Call call : batch) {
            if (call.rank() <= retried && call.giveBack()) {
                again.add(call);
            } else {
                deliver(() -> failOne(call, error));
            }
        }
        putBack(again, false, again.isEmpty() ? Call.LAST_RANK : retried);
        next();
    }

    private void failOne(Call call, Throwable error) {
        Operation failed = call.operation();
        call.fail(failures.of(failed.claim().key().name(), failed.subject(), error));
    }

    private void dropUnlessUsable(Throwable error) {
        Connection open = connection;
        if (open != null && !failures.keepsConnection(error)) {
            connection = null;
            if (failures.isSilence(error)) {
                connections.abandon(open);
            } else {
                connections.close(open);
            }
        }
    }

    private void end() {
        Connection open = connection;
        connection = null;
        if (open == null) {
            Sinks.EmitResult unused = ended.tryEmitEmpty();
            return;
        }
        Disposable unused = connections
                .limited(Mono.from(open.close()))
                .subscribe(nothing -> {}, error -> ended.tryEmitEmpty(), ended::tryEmitEmpty);
    }

    /** What a subscriber throws must not end the lane. */
    private static void deliver(Runnable signal) {
        try {
            signal.run();
        } catch (RuntimeException | Error thrown) {
            Operators.onErrorDropped(thrown, Context.empty());
        }
    }
}
