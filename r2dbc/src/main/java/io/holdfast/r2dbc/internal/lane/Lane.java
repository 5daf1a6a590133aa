package io.holdfast.r2dbc.internal.lane;

import io.holdfast.LockBackendException;
import io.holdfast.r2dbc.internal.dialect.RowLockedException;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.support.Fallible;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * One connection, and the calls that wait for it. While one batch is under way, the next one collects calls. So calls that meet share a
 * transaction, and a flush of the server's disk. The connection is opened with the first call, and again after it was lost.
 *
 * <p>Answers are emitted on the thread of the driver, or after a time limit on the thread of the timer.
 */
final class Lane {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.r2dbc.R2dbcLockBackend");

    private final Connections connections;
    private final SqlFailures failures;
    private final boolean isPatient;
    private final Supplier<String> channel;
    private final long claimMillis;

    /** Delivers messages to the claims of this client. */
    private final Consumer<List<Answer>> pushes;

    /** Accepts calls whose row another call has locked; null for the patient lane. */
    private final @Nullable Lane patient;

    private final CallQueue queue = new CallQueue();

    private final Outage sweeping = new Outage();

    private final Outage pushing = new Outage();

    /** For the patient lane. Called by the batch under way. */
    private final SweepPace sweeps = new SweepPace();

    private final Sinks.Empty<Void> ended = Sinks.empty();

    /** Written by the batch under way. */
    private volatile @Nullable Session session;

    Lane(
            Connections connections,
            SqlFailures failures,
            Supplier<String> channel,
            long claimMillis,
            Consumer<List<Answer>> pushes,
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
        switch (queue.add(calls)) {
            case STARTS -> next();
            case REFUSED -> calls.forEach(this::failAsClosed);
            case WAITS -> {}
        }
    }

    /** Closes the lane for further calls. The batch under way ends first. */
    Mono<Void> close() {
        CallQueue.Closing closing = queue.close();
        closing.refused().forEach(this::failAsClosed);
        if (closing.isOver()) {
            end();
        }
        return ended.asMono();
    }

    private void failAsClosed(Call call) {
        Operation refused = call.operation();
        deliver(() -> call.fail(failures.closed(refused.lockName(), refused.subject())));
    }

    private void next() {
        CallQueue.Step step = queue.next();
        switch (step.action()) {
            case SEND -> send(step.batch());
            case SWEEP -> sweep();
            case END -> end();
            case REST -> {}
        }
    }

    /** Deletes outdated rows when no call waits. */
    private void sweepSoon() {
        if (queue.addSweep() == CallQueue.Admission.STARTS) {
            next();
        }
    }

    private void sweep() {
        Disposable unused = connected()
                .flatMap(open -> connections.limited(() -> connections.dialect().sweep(open.connection())))
                .subscribe(
                        wasDue -> {
                            sweeping.ends();
                            if (wasDue) {
                                sweepLater();
                            }
                        },
                        error -> {
                            dropUnlessAnswered(error);
                            next();
                            if (sweeping.begins()) {
                                LOG.warn(
                                        "outdated rows of locks are not deleted, so their tables grow: {}",
                                        failures.described(error));
                            }
                        },
                        this::next);
    }

    /** There may be more to delete. After the end of this lane, the task does nothing. */
    private void sweepLater() {
        Disposable unused =
                connections.timer().schedule(this::sweepSoon, SweepPace.NEXT_STEP.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Sends the batch when there is a connection. Calls whose subscribers have cancelled meanwhile are left out. */
    private void send(List<Call> batch) {
        Disposable unused = connected()
                .subscribe(
                        open -> exchange(
                                open, batch.stream().filter(Call::isAwaited).toList()),
                        error -> failed(batch, error));
    }

    /** Subscribes here: a batch is never cancelled. It waits for a row only if all its calls are of one lock. */
    private void exchange(Session open, List<Call> awaited) {
        List<Call> batch = withoutFollowers(awaited);
        if (batch.isEmpty()) {
            next();
            return;
        }
        boolean waits = isPatient && batch.stream().allMatch(it -> it.isOfSameLock(batch.get(0)));
        List<Operation> operations = batch.stream().map(Call::toSend).toList();
        boolean isRenewal = batch.stream().allMatch(Call::isRenewal);
        Supplier<Flux<Answer>> answers = () -> isRenewal
                ? connections.dialect().renew(open.connection(), waits, operations)
                : connections.dialect().call(open.connection(), channel.get(), claimMillis, waits, operations);
        long startNanos = nanos();
        Disposable.Swap giveUp = Disposables.swap();
        if (waits) {
            giveUpInTime(batch, connections.settings().rowWaitMillis(), giveUp);
        }
        Disposable unused = connections
                .limited(() -> answers.get().collectList())
                .subscribe(
                        received -> {
                            giveUp.dispose();
                            took(batch.size(), startNanos);
                            answered(batch, received, waits);
                        },
                        error -> {
                            giveUp.dispose();
                            took(batch.size(), startNanos);
                            if (failures.isRowLocked(error)) {
                                rowStaysLocked(batch, error, waits);
                            } else {
                                failed(batch, error);
                            }
                        });
    }

    /** An attempt follows an earlier one for its lock to the patient lane: the attempts of a client take their places in their order. */
    private List<Call> withoutFollowers(List<Call> batch) {
        Set<String> locks = patient == null ? Set.of() : patient.queue.locksOfAttempts();
        if (patient == null || locks.isEmpty()) {
            return batch;
        }
        List<Call> followers = batch.stream()
                .filter(it -> it.isAttempt() && locks.contains(it.lock()) && it.giveOn())
                .toList();
        List<Call> others = batch.stream().filter(Call::isAwaited).toList();
        patient.submit(followers);
        return others;
    }

    /**
     * Fails each call while its caller still waits, so that it learns of the locked row. Some servers end the wait later, since they have
     * limits in whole seconds.
     *
     * @param leastMillis how long the calls wait at least
     * @param giveUp the timer; disposed with the answer
     */
    private void giveUpInTime(List<Call> batch, long leastMillis, Disposable.Swap giveUp) {
        long limit = TimeUnit.MILLISECONDS.toNanos(connections.settings().serverMillis());
        long oldest = batch.stream()
                .mapToLong(call -> nanos() - call.sinceNanos())
                .max()
                .orElse(0);
        Runnable ends = () -> {
            List<Call> rest = new ArrayList<>();
            for (Call call : batch) {
                if (nanos() - call.sinceNanos() >= limit) {
                    deliver(() -> failOne(call, new RowLockedException()));
                } else {
                    rest.add(call);
                }
            }
            if (!rest.isEmpty()) {
                giveUpInTime(rest, 0, giveUp);
            }
        };
        long delay = Math.max(limit - oldest, TimeUnit.MILLISECONDS.toNanos(leastMillis));
        giveUp.update(connections.timer().schedule(ends, delay, TimeUnit.NANOSECONDS));
    }

    /**
     * The row is tried again behind the calls for other rows, until the server has had its time. Calls of several locks go on lock by lock.
     * The usual lane meets such a row only as the row is added: it hands on the calls that may need it.
     */
    private void rowStaysLocked(List<Call> batch, Throwable error, boolean isOfOneLock) {
        long limit = TimeUnit.MILLISECONDS.toNanos(
                connections.settings().serverMillis() - connections.settings().rowWaitMillis());
        List<Call> again = new ArrayList<>();
        for (Call call : batch) {
            if (nanos() - call.sinceNanos() >= limit) {
                deliver(() -> failOne(call, error));
            } else if (call.giveOn()) {
                again.add(call);
            }
        }
        if (patient != null) {
            handOn(again, patient);
        } else if (!isOfOneLock && !again.isEmpty()) {
            again.forEach(Call::goAlone);
            awaitRow(again);
        } else if (!queue.putLast(again)) {
            again.forEach(this::failAsClosed);
        }
        next();
    }

    private void handOn(List<Call> calls, Lane to) {
        int highest = calls.stream().mapToInt(Call::rank).reduce(1, Math::max); // a renewal needs no such row
        to.submit(calls.stream().filter(it -> it.rank() == highest).toList());
        putBack(calls.stream().filter(it -> it.rank() < highest).toList(), false, Call.LAST_RANK);
    }

    private void took(int calls, long startNanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos() - startNanos);
        queue.took(calls, millis, connections.settings().replyTimeout().toMillis());
    }

    private long nanos() {
        return connections.timer().now(TimeUnit.NANOSECONDS);
    }

    /** Opens a new connection if the last one has ended, so that a call on a lost idle connection does not fail. */
    private Mono<Session> connected() {
        Session last = session;
        return last == null
                ? opened()
                : connections.isOpen(last).flatMap(isOpen -> isOpen ? Mono.just(last) : opened());
    }

    private Mono<Session> opened() {
        session = null;
        return connections.open().doOnNext(fresh -> session = fresh);
    }

    private void answered(List<Call> batch, List<Answer> answers, boolean hasWaited) {
        List<Call> busy = new ArrayList<>();
        List<Answer> pushed = new ArrayList<>();
        BitSet answered = new BitSet(batch.size());
        for (Answer answer : answers) {
            if (answer.isOfNotifications()) {
                othersAreNotified(answer);
                continue;
            } else if (answer.isPush()) {
                pushed.add(answer);
                continue;
            }
            Call call = batch.get(answer.number() - 1);
            answered.set(answer.number() - 1);
            if (answer.isBusy() && !hasWaited) {
                if (call.giveOn()) {
                    busy.add(call);
                }
            } else if (answer.isBusy()) {
                deliver(() -> failOne(call, new RowLockedException()));
            } else {
                deliver(() -> call.answer(answer));
            }
        }
        failTheRest(batch, answered);
        if (patient != null && !busy.isEmpty()) {
            patient.submit(busy);
        } else if (!busy.isEmpty()) {
            awaitRow(busy);
        }
        if (patient != null && sweeps.isDueBehindABatch(nanos())) {
            patient.sweepSoon();
        }
        if (!pushed.isEmpty()) {
            deliver(() -> pushes.accept(pushed));
        }
        next();
    }

    /** If a message is lost, its waiter waits one claim time longer. */
    private void othersAreNotified(Answer answer) {
        if (answer.isNotified()) {
            pushing.ends();
        } else if (pushing.begins()) {
            Fallible.tell(
                    () -> LOG.warn(
                            "other clients are not notified, so their waiters get locks late: the server's queue of notifications is nearly full"));
        }
    }

    /** Waits for the row of the first call. Then all others are tried again, so no call waits for a row that it does not need. */
    private void awaitRow(List<Call> busy) {
        Call first = busy.get(0);
        List<Call> ordered = new ArrayList<>(
                busy.stream().filter(it -> it.isOfSameLock(first)).toList());
        ordered.addAll(busy.stream().filter(it -> !it.isOfSameLock(first)).toList());
        putBack(ordered, true, Call.LAST_RANK);
    }

    private void putBack(List<Call> calls, boolean awaitsRow, int highestRank) {
        if (!queue.putBack(calls, awaitsRow, highestRank)) {
            calls.forEach(this::failAsClosed);
        }
    }

    /** A proxy between the client and the database may lose a row. Its call must not wait for ever. */
    private void failTheRest(List<Call> batch, BitSet answered) {
        for (int i = answered.nextClearBit(0); i < batch.size(); i = answered.nextClearBit(i + 1)) {
            Call call = batch.get(i);
            deliver(() -> failOne(call, new IllegalStateException("the answer has no row for this operation")));
        }
    }

    private void failed(List<Call> batch, Throwable error) {
        dropUnlessUsable(error);
        boolean isUndone = failures.isUndone(error);
        int highest = batch.stream().mapToInt(Call::rank).max().orElse(0);
        // On a full disk, calls that need less room may succeed without the others.
        int retried = isUndone ? Call.LAST_RANK : failures.isRefused(error) ? highest - 1 : -1;
        List<Call> again = new ArrayList<>();
        for (Call call : batch) {
            if (call.rank() <= retried && call.giveBack(isUndone ? null : failure(call, error))) {
                again.add(call);
            } else {
                deliver(() -> failOne(call, error));
            }
        }
        putBack(again, false, again.isEmpty() ? Call.LAST_RANK : retried);
        next();
    }

    private void failOne(Call call, Throwable error) {
        call.fail(failure(call, error));
    }

    private LockBackendException failure(Call call, Throwable error) {
        Operation failed = call.operation();
        return failures.of(failed.lockName(), failed.subject(), error);
    }

    /** After work that no caller awaits. */
    private void dropUnlessAnswered(Throwable error) {
        if (!failures.isAnswer(error)) {
            dropUnlessUsable(error);
        }
    }

    private void dropUnlessUsable(Throwable error) {
        Session open = session;
        if (open != null && !failures.keepsConnection(error)) {
            session = null;
            if (failures.isSilence(error)) {
                connections.abandon(open);
            } else {
                connections.close(open.connection());
            }
        }
    }

    private void end() {
        Session open = session;
        session = null;
        if (open == null) {
            Sinks.EmitResult unused = ended.tryEmitEmpty();
            return;
        }
        Disposable unused =
                connections.ended(open.connection()).subscribe(nothing -> {}, error -> {}, ended::tryEmitEmpty);
    }

    /** An exception from a subscriber must not end the lane. */
    private static void deliver(Runnable signal) {
        try {
            signal.run();
        } catch (RuntimeException | Error thrown) {
            Operators.onErrorDropped(thrown, Context.empty());
        }
    }
}
