package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.KV;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * Sends the transactions of this client. While some are under way, the next ones wait, and go together: changes as transactions inside one
 * transaction, which is one entry in the log of etcd, and reads side by side.
 */
final class Transactions {

    /** The default limit of etcd is 128 operations. */
    static final int MOST_OPERATIONS = 100;

    /** So many are under way at a time, of each kind. The second one is on its way while etcd writes the first. */
    private static final int MOST_UNDER_WAY = 2;

    /** One that takes longer does not hold up others: a member that hangs must not stop this client. */
    private static final Duration PATIENCE = Duration.ofMillis(300);

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
     */
    private record Request(String claim, String turn, List<Cmp> conditions, List<Op> then, List<Op> otherwise) {

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
     * @param revision of the store after the transaction
     * @param before a revision such that what the reads have not seen came later
     */
    record Answer(boolean isSucceeded, List<GetResponse> reads, long revision, long before) {}

    /** One request, with its subscriber. */
    private static final class Pending {
        private final Request request;
        private final MonoSink<Answer> sink;

        Pending(Request request, MonoSink<Answer> sink) {
            this.request = request;
            this.sink = sink;
        }
    }

    /** A transaction that etcd has not answered yet. */
    private static final class Sent {
        private final long nanos;
        private final List<Pending> batch;

        Sent(long nanos, List<Pending> batch) {
            this.nanos = nanos;
            this.batch = batch;
        }
    }

    /** Reads from one revision of the store. */
    Mono<Answer> read(Op... ops) {
        return reads.send(new Request("", "", List.of(), List.of(ops), List.of()));
    }

    /** Begins a change of one claim. */
    Change about(String claim) {
        return new Change(claim);
    }

    /** A change that is being written. */
    final class Change {

        private final String claim;
        private String turn = "";
        private List<Cmp> conditions = List.of();
        private List<Op> then = List.of();

        private Change(String claim) {
            this.claim = claim;
        }

        /** It takes effect after those that were sent before it with the same turn. */
        Change inTurn(String name) {
            turn = name;
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
            return changes.send(new Request(claim, turn, conditions, then, ops));
        }
    }

    /** Requests of one kind. */
    private final class Lane {

        /** Guarded by this lane, as are the next three fields. */
        private final Deque<Pending> waiting = new ArrayDeque<>();

        /** By their turns, the request whose turn it is, and behind it those that wait for theirs. */
        private final Map<String, Deque<Pending>> turns = new HashMap<>();

        /** The oldest first. */
        private final List<Sent> underWay = new ArrayList<>();

        private boolean looksAgain;

        Mono<Answer> send(Request request) {
            return Mono.create(sink -> {
                Pending pending = new Pending(request, sink);
                sink.onCancel(() -> forget(pending));
                add(pending);
                sendNext();
            });
        }

        private synchronized void add(Pending pending) {
            String turn = pending.request.turn;
            if (turn.isEmpty()) {
                waiting.add(pending);
                return;
            }
            Deque<Pending> line = turns.computeIfAbsent(turn, first -> new ArrayDeque<>());
            line.add(pending);
            if (line.size() == 1) {
                waiting.add(pending);
            }
        }

        /** It was answered, or is given up: the next one has its turn. */
        private synchronized void passTurn(Pending pending) {
            Deque<Pending> line = turns.get(pending.request.turn);
            if (line == null || line.peek() != pending) {
                boolean unused = line != null && line.remove(pending);
                return;
            }
            line.remove();
            if (line.isEmpty()) {
                turns.remove(pending.request.turn);
            } else {
                waiting.add(line.element());
            }
        }

        private void forget(Pending pending) {
            synchronized (this) {
                waiting.removeIf(it -> it == pending);
                passTurn(pending);
            }
            sendNext();
        }

        private void sendNext() {
            for (Sent next = next(); next != null; next = next()) {
                send(next);
            }
        }

        private synchronized @Nullable Sent next() {
            List<Pending> batch = new ArrayList<>();
            long now = scheduler.now(NANOSECONDS);
            underWay.removeIf(it -> now - it.nanos >= PATIENCE.toNanos());
            Set<String> claims = new HashSet<>();
            int left = underWay.size() < MOST_UNDER_WAY ? MOST_OPERATIONS : 0;
            for (Iterator<Pending> it = waiting.iterator(); it.hasNext() && left > 0; ) {
                Pending pending = it.next();
                Request request = pending.request;
                int size = this == reads ? request.then.size() : 1;
                // Also that of a request that waits: later ones must not overtake it.
                boolean isFirstOfClaim = request.claim.isEmpty() || claims.add(request.claim);
                if (isFirstOfClaim && (size <= left || batch.isEmpty())) {
                    it.remove();
                    batch.add(pending);
                    left -= size;
                }
            }
            if (!waiting.isEmpty() && !looksAgain) {
                looksAgain = true;
                var unused = scheduler.schedule(this::lookAgain, PATIENCE.toMillis(), MILLISECONDS);
            }
            return batch.isEmpty() ? null : sending(now, batch);
        }

        private synchronized Sent sending(long now, List<Pending> batch) {
            Sent sent = new Sent(now, batch);
            underWay.add(sent);
            return sent;
        }

        private void lookAgain() {
            synchronized (this) {
                looksAgain = false;
            }
            sendNext();
        }

        private synchronized void answered(Sent sent) {
            underWay.removeIf(it -> it == sent);
        }

        private void send(Sent sent) {
            var unused = Answers.of(() -> transaction(sent.batch).commit())
                    .doOnTerminate(() -> answered(sent))
                    .subscribe(answer -> tell(sent.batch, answer), error -> refuse(sent.batch, error));
        }

        private void tell(List<Pending> batch, TxnResponse answer) {
            batch.forEach(this::passTurn);
            sendNext();
            long revision = answer.getHeader().getRevision();
            if (batch.size() == 1) {
                batch.get(0)
                        .sink
                        .success(new Answer(answer.isSucceeded(), answer.getGetResponses(), revision, revision));
            } else if (this == reads) {
                Iterator<GetResponse> all = answer.getGetResponses().iterator();
                for (Pending it : batch) {
                    List<GetResponse> own = new ArrayList<>();
                    it.request.then.forEach(op -> own.add(all.next()));
                    it.sink.success(new Answer(true, own, revision, revision));
                }
            } else {
                // Another of these changes may have come after the reads of one.
                Iterator<TxnResponse> all = answer.getTxnResponses().iterator();
                for (Pending it : batch) {
                    TxnResponse own = all.next();
                    it.sink.success(new Answer(own.isSucceeded(), own.getGetResponses(), revision, revision - 1));
                }
            }
        }

        /** What etcd refuses, it has not changed. Then each request is sent alone, since it may be that of another that was refused. */
        private void refuse(List<Pending> batch, Throwable error) {
            if (batch.size() > 1 && Failures.isRefusal(error)) {
                batch.forEach(it -> send(sending(scheduler.now(NANOSECONDS), List.of(it))));
                return;
            }
            batch.forEach(this::passTurn);
            sendNext();
            batch.forEach(it -> it.sink.error(error));
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
