package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.KV;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.holdfast.LockBackendException;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Mailbox;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.Context;

/**
 * Sends the transactions of this client. While some are under way, the next ones wait, and go together: changes as transactions inside one
 * transaction, which is one entry in the log of etcd, and reads side by side.
 */
final class Transactions {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.etcd.EtcdLockBackend");

    /** The default limit of etcd is 128 operations. */
    static final int MOST_OPERATIONS = 100;

    /** So many are under way at a time, of each kind. The second one is on its way while etcd writes the first. */
    private static final int MOST_UNDER_WAY = 2;

    /** One that takes longer does not hold up others: a member that hangs must not stop this client. */
    private static final Duration PATIENCE = Duration.ofMillis(300);

    /**
     * Patience grows with the silence up to this. The driver keeps each request of an outage and cannot take it back, and etcd carries out all
     * of them afterwards.
     */
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(5);

    /** So many without an answer are not yet an outage, however long the silence. */
    private static final int FEW = 16;

    /** Patience is the silence divided by this. */
    private static final int SILENCE_PARTS = 4;

    /** So long a request in turn waits for a release that is due: both are then one entry in the log of etcd. */
    private static final Duration COMPANY = Duration.ofMillis(10);

    private final KV kv;
    private final Scheduler scheduler;

    private final Lane changes = new Lane();
    private final Lane reads = new Lane();

    Transactions(KV kv, Scheduler scheduler) {
        this.kv = kv;
        this.scheduler = scheduler;
    }

    /**
     * One transaction.
     *
     * @param claim no two requests of one claim go together: etcd compares all, and then changes all
     * @param turn no two requests with one turn are under way together, unless the first one is given up; empty if it has none
     * @param frees the turn whose next request may wait for this one, to go with it; empty for all but releases
     * @param isFollowed whether another request that frees the turn is due soon after this one
     * @param patience how long it waits for its turn
     * @param isUrgent whether it goes before those that wait
     */
    private record Request(
            String claim,
            String turn,
            String frees,
            boolean isFollowed,
            Duration patience,
            boolean isUrgent,
            List<Cmp> conditions,
            List<Op> then,
            List<Op> otherwise) {

        static Request reading(boolean isUrgent, Op... ops) {
            return new Request("", "", "", false, Duration.ZERO, isUrgent, List.of(), List.of(ops), List.of());
        }

        Txn alone(Txn txn) {
            return txn.If(conditions.toArray(Cmp[]::new))
                    .Then(then.toArray(Op[]::new))
                    .Else(otherwise.toArray(Op[]::new));
        }

        Op nested() {
            return Op.txn(conditions.toArray(Cmp[]::new), then.toArray(Op[]::new), otherwise.toArray(Op[]::new));
        }
    }

    /**
     * The answer to one transaction.
     *
     * @param isSucceeded whether the conditions were met
     * @param reads the answers of its reads, in their order
     * @param revision of the store after the transaction; the reads of a request in turn have seen all of it
     */
    record Answer(boolean isSucceeded, List<GetResponse> reads, long revision) {}

    /** One request, with its subscriber. */
    private static final class Pending {
        private final Request request;
        private final MonoSink<Answer> sink;

        /** Guarded by its lane. */
        private boolean isGivenUp;

        Pending(Request request, MonoSink<Answer> sink) {
            this.request = request;
            this.sink = sink;
        }

        boolean isInTurn() {
            return !request.turn.isEmpty();
        }
    }

    /** A transaction that etcd has not answered yet. */
    private record Sent(long nanos, List<Pending> batch) {}

    /** Reads from one revision of the store. */
    Mono<Answer> read(Op... ops) {
        return reads.send(Request.reading(false, ops));
    }

    /** As {@link #read}, before all reads that wait: leases depend on it. */
    Mono<Answer> readFirst(Op... ops) {
        return reads.send(Request.reading(true, ops));
    }

    /** The claim sends no more changes in turn. */
    void forget(String claim, String turn) {
        changes.forget(claim, turn);
    }

    /** {@return the turns that are taken, or have a position} */
    int turns() {
        return changes.turns();
    }

    /** Begins a change of one claim. */
    Change about(String claim) {
        return new Change(claim);
    }

    /** A change that is being written. */
    final class Change {

        private final String claim;
        private String turn = "";
        private String frees = "";
        private boolean isFollowed;
        private Duration patience = Duration.ZERO;
        private List<Cmp> conditions = List.of();
        private List<Op> then = List.of();

        private Change(String claim) {
            this.claim = claim;
        }

        /**
         * It takes effect after those that were sent before it with the same turn. If its turn does not come within the given time, it fails
         * with {@link LockBackendException#notYet}, and the claim keeps its position.
         */
        Change inTurn(String name, Duration time) {
            turn = name;
            patience = time;
            return this;
        }

        /** A release. Requests in turn that are due go with it. If another release will follow soon, later ones go with that one. */
        Change freeing(String name, boolean passesOn) {
            frees = name;
            isFollowed = passesOn;
            return this;
        }

        Change when(Cmp... met) {
            conditions = List.of(met);
            return this;
        }

        Change then(Op... ops) {
            return then(List.of(ops));
        }

        Change then(List<Op> ops) {
            then = ops;
            return this;
        }

        Mono<Answer> commit() {
            return orElse();
        }

        Mono<Answer> orElse(Op... ops) {
            return orElse(List.of(ops));
        }

        Mono<Answer> orElse(List<Op> ops) {
            return changes.send(new Request(claim, turn, frees, isFollowed, patience, false, conditions, then, ops));
        }
    }

    /** Requests of one kind. */
    private final class Lane {

        /** Guarded by this lane, as are the next three fields. */
        private final Deque<Pending> waiting = new ArrayDeque<>();

        private final Turns<Pending> turns = new Turns<>();

        /** The oldest first. */
        private final List<Sent> underWay = new ArrayList<>();

        /** How many have no answer, also after their patience is over. Guarded by this lane, as is the next field. */
        private int unanswered;

        /** When the first of them was sent, or the last answer came. */
        private long silentSinceNanos;

        private boolean looksAgain;

        /** The turns whose next request waits for a release, and until when. Guarded by this lane. */
        private final Map<String, Long> heldBack = new HashMap<>();

        /** Sends and hears, one thread at a time. An answer may come while its request is sent. */
        private final Mailbox sending = new Mailbox(defect -> Operators.onErrorDropped(defect, Context.empty()));

        /** Written before and after a sending, by its thread. Other threads only compare it with themselves. */
        private volatile @Nullable Thread sender;

        Mono<Answer> send(Request request) {
            return Mono.create(sink -> {
                Pending pending = new Pending(request, sink);
                sink.onCancel(() -> giveUp(pending));
                if (!add(pending)) {
                    sink.onDispose(
                            scheduler.schedule(() -> turnIsLate(pending), request.patience.toNanos(), NANOSECONDS));
                }
                sendNext();
            });
        }

        /** Returns whether the request need not wait for its turn. */
        private synchronized boolean add(Pending pending) {
            Request request = pending.request;
            heldBack.remove(request.frees);
            if (!request.turn.isEmpty()) {
                return begin(turns.add(request.turn, request.claim, pending));
            }
            if (request.isUrgent) {
                waiting.addFirst(pending);
            } else {
                waiting.add(pending);
            }
            return true;
        }

        private boolean begin(@Nullable Pending next) {
            return next != null && waiting.add(next);
        }

        /** It was answered, or is given up: the next one has its turn. */
        private synchronized void passTurn(Pending pending) {
            boolean unused = begin(turns.pass(pending.request.turn, pending.request.claim, pending));
        }

        private void giveUp(Pending pending) {
            synchronized (this) {
                pending.isGivenUp = true;
                waiting.removeIf(it -> it == pending);
                passTurn(pending);
            }
            sendNext();
        }

        private void turnIsLate(Pending pending) {
            Request request = pending.request;
            synchronized (this) {
                if (!turns.waits(request.turn, request.claim, pending)) {
                    return;
                }
                passTurn(pending);
            }
            String message =
                    "could not join the waiters of lock '%s' in etcd within %s: other claims of this client join it first, one in each round trip"
                            .formatted(Printable.text(request.turn), request.patience);
            pending.sink.error(LockBackendException.notYet(request.turn, message, Duration.ZERO));
        }

        synchronized int turns() {
            return turns.size();
        }

        synchronized void forget(String claim, String turn) {
            turns.forget(turn, claim);
        }

        private void sendNext() {
            sending.post(this::sendAll);
        }

        private void sendAll() {
            for (Sent next = next(); next != null; next = next()) {
                send(next);
            }
        }

        private synchronized @Nullable Sent next() {
            List<Pending> batch = new ArrayList<>();
            long now = scheduler.now(NANOSECONDS);
            long patience = patienceNanos(now);
            underWay.removeIf(it -> now - it.nanos >= patience);
            heldBack.values().removeIf(until -> until - now <= 0);
            Set<String> claims = new HashSet<>();
            int left = underWay.size() < MOST_UNDER_WAY ? MOST_OPERATIONS : 0;
            for (Iterator<Pending> it = waiting.iterator(); it.hasNext() && left > 0; ) {
                Pending pending = it.next();
                Request request = pending.request;
                int size = this == reads ? request.then.size() : 1;
                // Also that of a request that waits: later ones must not overtake it.
                boolean isFirstOfClaim = request.claim.isEmpty() || claims.add(request.claim);
                if (isFirstOfClaim && !heldBack.containsKey(request.turn) && (size <= left || batch.isEmpty())) {
                    it.remove();
                    batch.add(pending);
                    left -= size;
                }
            }
            batch.sort(Comparator.comparing(Pending::isInTurn)); // these read, so that they see what the others change
            for (Pending it : batch) {
                if (it.request.isFollowed) {
                    heldBack.put(it.request.frees, now + COMPANY.toNanos());
                }
            }
            if (!waiting.isEmpty() && !looksAgain) {
                looksAgain = true;
                var unused = scheduler.schedule(this::lookAgain, COMPANY.toNanos(), NANOSECONDS);
            }
            return batch.isEmpty() ? null : sending(now, batch);
        }

        private long patienceNanos(long now) {
            long silence = unanswered <= FEW ? 0 : now - silentSinceNanos;
            return Math.min(Math.max(silence / SILENCE_PARTS, PATIENCE.toNanos()), LONGEST_PATIENCE.toNanos());
        }

        private synchronized Sent sending(long now, List<Pending> batch) {
            Sent sent = new Sent(now, batch);
            underWay.add(sent);
            if (unanswered == 0) {
                silentSinceNanos = now;
            }
            unanswered++;
            return sent;
        }

        private void lookAgain() {
            synchronized (this) {
                looksAgain = false;
            }
            sendNext();
        }

        private synchronized void answered(Sent sent) {
            boolean unused = underWay.remove(sent);
            unanswered--;
            silentSinceNanos = scheduler.now(NANOSECONDS);
        }

        private void send(Sent sent) {
            List<Pending> batch = sent.batch;
            sender = Thread.currentThread();
            var unused = Answers.of(() -> transaction(batch).commit())
                    .map(answer -> answers(batch, answer))
                    .doOnTerminate(() -> answered(sent))
                    .subscribe(
                            answers -> heard(batch, it -> it.sink.success(requireNonNull(answers.get(it)))),
                            error -> refused(batch, error));
            sender = null;
        }

        private Map<Pending, Answer> answers(List<Pending> batch, TxnResponse answer) {
            Map<Pending, Answer> answers = new HashMap<>();
            long revision = answer.getHeader().getRevision();
            if (batch.size() == 1) {
                answers.put(batch.get(0), new Answer(answer.isSucceeded(), answer.getGetResponses(), revision));
            } else if (this == reads) {
                Iterator<GetResponse> all = answer.getGetResponses().iterator();
                for (Pending it : batch) {
                    List<GetResponse> own = new ArrayList<>();
                    it.request.then.forEach(op -> own.add(all.next()));
                    answers.put(it, new Answer(true, own, revision));
                }
            } else {
                Iterator<TxnResponse> all = answer.getTxnResponses().iterator();
                for (Pending it : batch) {
                    TxnResponse own = all.next();
                    answers.put(it, new Answer(own.isSucceeded(), own.getGetResponses(), revision));
                }
            }
            return answers;
        }

        /** What etcd refuses, it has not changed. Then each request is sent alone, since it may be that of another that was refused. */
        private void refused(List<Pending> batch, Throwable error) {
            if (batch.size() > 1 && (Failures.isRefusal(error) || (this == reads && Failures.isTooMuch(error)))) {
                sending.post(() -> {
                    batch.stream()
                            .filter(this::isWanted)
                            .forEach(it -> send(sending(scheduler.now(NANOSECONDS), List.of(it))));
                    sendAll();
                });
            } else {
                heard(batch, it -> fail(it, error));
            }
        }

        /** Those that are given up would be logged as dropped. */
        private void fail(Pending it, Throwable error) {
            if (isWanted(it)) {
                it.sink.error(error);
            }
        }

        /**
         * The thread that brings an answer passes it on: no other thread runs that users' code. An answer that comes while its request is sent
         * waits until all is sent. What users' code throws does not concern the other requests of a transaction.
         */
        private void heard(List<Pending> batch, Consumer<Pending> passOn) {
            Runnable emission = () -> batch.forEach(
                    it -> Fallible.run(() -> passOn.accept(it), LOG, "a lock event could not be handled"));
            boolean isAtOnce = Thread.currentThread().equals(sender);
            sending.post(() -> {
                batch.forEach(this::passTurn);
                sendAll();
                if (isAtOnce) {
                    sending.after(emission);
                }
            });
            if (!isAtOnce) {
                emission.run();
            }
        }

        private synchronized boolean isWanted(Pending pending) {
            return !pending.isGivenUp;
        }

        private Txn transaction(List<Pending> batch) {
            return batch.size() == 1
                    ? batch.get(0).request.alone(kv.txn())
                    : kv.txn().Then(batch.stream().flatMap(this::operations).toArray(Op[]::new));
        }

        private Stream<Op> operations(Pending pending) {
            return this == reads ? pending.request.then.stream() : Stream.of(pending.request.nested());
        }
    }
}
