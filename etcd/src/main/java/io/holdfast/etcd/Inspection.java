package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.etcd.Failures.Subject;
import io.holdfast.etcd.Layout.Lock;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Reads lines for operators, and breaks holds. */
final class Inspection implements LockInspector {

    private static final List<LockKind> KINDS = List.of(LockKind.MUTEX, LockKind.WRITE, LockKind.SEMAPHORE);

    private final EtcdLockBackend backend;
    private final Transactions transactions;
    private final Leases leases;
    private final Layout layout;
    private final Scheduler scheduler;
    private final Duration answerLimit;

    Inspection(
            EtcdLockBackend backend,
            Transactions transactions,
            Leases leases,
            Layout layout,
            Scheduler scheduler,
            Duration answerLimit) {
        this.backend = backend;
        this.transactions = transactions;
        this.leases = leases;
        this.layout = layout;
        this.scheduler = scheduler;
        this.answerLimit = answerLimit;
    }

    Flux<LockHolder> holders(LockKey key) {
        return places(layout.line(key))
                .flatMapIterable(places -> new Line(places).holders())
                .map(Inspection::holder);
    }

    @Override
    public Flux<LockReport> inspect(String name) {
        return backend.outside(
                "inspect",
                Flux.fromIterable(KINDS)
                        .concatMap(kind -> stored(layout.line(LockKey.of(kind, name))))
                        .flatMapIterable(this::reports));
    }

    /** Reads all places at once: there are as many as claims that hold or wait. */
    @Override
    public Flux<LockReport> all() {
        return backend.outside("inspect", stored(layout.lines()).flatMapIterable(this::reports));
    }

    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKey key = LockKey.of(requireNonNull(holder, "holder").kind(), lockName);
        return backend.outside(Subject.of("break", key), breakHold(key, holder));
    }

    @Override
    public Mono<Void> close() {
        return backend.close();
    }

    private Mono<Boolean> breakHold(LockKey key, LockHolder holder) {
        String id = holder.claimId();
        return places(layout.line(key))
                .flatMapIterable(places -> new Line(places).holders())
                .filter(it -> it.id().equals(id) && it.created() == holder.fencingToken())
                .next()
                .flatMap(place -> leases.ofTombstones().flatMap(lease -> {
                    Op notice = Op.put(layout.notice(place.node(), id), ByteSequence.EMPTY, lease.attached());
                    return transactions
                            .about(id)
                            .when(Conditions.createdAt(place.key(), place.created()))
                            .then(
                                    Op.delete(place.key(), DeleteOption.DEFAULT),
                                    Op.delete(layout.mark(place.key()), DeleteOption.DEFAULT),
                                    lease.tombstone(layout, id),
                                    notice)
                            .commit()
                            .timeout(answerLimit, scheduler)
                            .map(Transactions.Answer::isSucceeded);
                }))
                .defaultIfEmpty(false);
    }

    private Mono<List<Place>> places(ByteSequence prefix) {
        return stored(prefix).map(found -> found.stream().map(layout::place).toList());
    }

    private Mono<List<KeyValue>> stored(ByteSequence prefix) {
        GetOption inOrder = GetOption.builder()
                .isPrefix(true)
                .withSortField(GetOption.SortTarget.CREATE)
                .withSortOrder(GetOption.SortOrder.ASCEND)
                .build();
        return transactions
                .read(Op.get(prefix, inOrder))
                .timeout(answerLimit, scheduler)
                .map(answer -> answer.reads().get(0).getKvs());
    }

    /** A key that is in no line belongs to no lock. */
    private List<LockReport> reports(List<KeyValue> found) {
        Map<Lock, List<KeyValue>> locks = new LinkedHashMap<>();
        for (KeyValue it : found) {
            Lock lock = layout.lock(it.getKey());
            if (lock != null) {
                locks.computeIfAbsent(lock, unused -> new ArrayList<>()).add(it);
            }
        }
        List<LockReport> reports = new ArrayList<>();
        locks.forEach((lock, stored) -> reports.add(report(lock, stored)));
        return reports;
    }

    /** By which rules a place of another form holds is not known, so the report then has no claims. */
    private LockReport report(Lock lock, List<KeyValue> stored) {
        try {
            return report(stored.stream().map(layout::place).toList());
        } catch (OtherFormException other) {
            return new LockReport(
                    lock.name(),
                    lock.type(),
                    0,
                    List.of(),
                    0,
                    List.of(),
                    OptionalLong.empty(),
                    Map.of(),
                    List.of(other.getMessage() + ". " + other.advice()));
        }
    }

    private static LockReport report(List<Place> places) {
        Line line = new Line(places);
        List<Place> holders = line.holders();
        List<Place> waiters = line.waiters();
        Place first = places.get(0);
        return new LockReport(
                first.name(),
                LockReport.Type.of(first.kind()),
                holders.size(),
                holders.stream()
                        .limit(LockReport.MOST_HOLDERS)
                        .map(Inspection::holder)
                        .toList(),
                waiters.size(),
                waiters.stream()
                        .limit(LockReport.MOST_WAITERS)
                        .map(Inspection::waiter)
                        .toList(),
                holders.isEmpty()
                        ? OptionalLong.empty()
                        : OptionalLong.of(holders.get(holders.size() - 1).created()),
                Map.of(),
                List.of());
    }

    private static LockHolder holder(Place it) {
        return new LockHolder(
                it.id(), it.kind(), it.permits(), it.created(), Optional.empty(), Optional.empty(), details(it));
    }

    private static LockWaiter waiter(Place it) {
        return new LockWaiter(it.id(), it.kind(), it.permits(), it.limit(), Optional.empty(), details(it));
    }

    private static Map<String, String> details(Place it) {
        return Map.of("etcd lease", Long.toHexString(it.lease()) + ", which keeps the place until it ends");
    }
}
