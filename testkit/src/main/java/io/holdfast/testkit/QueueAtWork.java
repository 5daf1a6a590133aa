package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.Waiting;
import java.util.ArrayList;
import java.util.List;

/** A lock with a holder and a queue that is always as long. */
final class QueueAtWork {

    static final int SHORT = 64;
    static final int LONG = Integer.getInteger("holdfast.cases", 1) > 1 ? 512 : 256;
    static final WayOut NONE = queue -> {};
    private static final int ROUNDS = 8;

    /** One claim leaves. */
    interface WayOut {
        void of(QueueAtWork queue);
    }

    private final LockBackendUnderTest store;
    private final Contest contest;
    private final LockKind kind;
    private final List<Contender> waiters = new ArrayList<>();
    private Contender holder;

    /** Work that no way out needs. */
    private long notCounted;

    private QueueAtWork(LockBackendUnderTest store, Contest contest, LockKind kind) {
        this.store = store;
        this.contest = contest;
        this.kind = kind;
        holder = contest.of(kind, Waiting.NONE);
        holder.mustAcquire();
    }

    /** Counts the work of some rounds: a way out, and a claim that is served. */
    static long work(LockBackendUnderTest store, LockKind kind, int length, WayOut wayOut) {
        try (Contest contest = new Contest(store)) {
            QueueAtWork queue = new QueueAtWork(store, contest, kind);
            long work = 0;
            for (int round = 0; round <= ROUNDS; round++) {
                queue.fill(length);
                long before = store.serverWork();
                wayOut.of(queue);
                queue.serve();
                // The first round may prepare something.
                work += round == 0 ? 0 : store.serverWork() - before;
            }
            return work - queue.notCounted;
        }
    }

    private void fill(int length) {
        List<Contender> joining = new ArrayList<>();
        while (waiters.size() + joining.size() < length) {
            joining.add(contest.of(kind, Waiting.QUEUE).watching());
        }
        contest.allAttempt(joining);
        waiters.addAll(joining);
    }

    private void serve() {
        Contender last = contest.of(kind, Waiting.QUEUE).watching();
        Object unused = last.attempt();
        contest.armed(last);
        waiters.add(last);
        holder.release();
        next();
    }

    private void next() {
        holder = waiters.remove(0);
        holder.mustBeGrantedWithin(contest.patience(), new LockAttempt.Queued(contest.patience()));
    }

    private Contender takeFromTheMiddle() {
        return waiters.remove(waiters.size() / 2);
    }

    void refusal() {
        contest.of(kind, Waiting.NONE).mustBeRefused();
    }

    void refusalByAFullQueue(LockBackend limited) {
        contest.of(limited, "refused", kind, Contest.LONG, Waiting.QUEUE).mustFindAFullQueue();
    }

    void withdrawal() {
        takeFromTheMiddle().leave();
    }

    void timeOut() {
        Contender leaving = takeFromTheMiddle();
        Object unused = leaving.attempt();
        leaving.leave();
    }

    void broken(LockInspector inspector) {
        long before = store.serverWork();
        LockHolder seen = contest.answer(inspector
                .inspect(contest.name())
                .flatMapIterable(report -> report.holders())
                .single());
        notCounted += store.serverWork() - before;
        assertThat(contest.answer(inspector.breakHold(contest.name(), seen))).isTrue();
        next();
    }
}
