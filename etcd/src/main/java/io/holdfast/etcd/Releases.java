package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.etcd.Claims.Follower;
import io.holdfast.etcd.Transactions.Answer;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The ends of claims: releases, withdrawals, and those of claims that were silent. */
final class Releases {

    /** The next claim asks at once. One that asks later looks at the store. */
    private static final Duration PASSED_ON = Duration.ofSeconds(1);

    private final Transactions transactions;
    private final Layout layout;
    private final String node;
    private final Scheduler scheduler;
    private final Leases leases;
    private final Claims claims;
    private final Watches watches;

    Releases(
            Transactions transactions,
            Layout layout,
            String node,
            Scheduler scheduler,
            Leases leases,
            Claims claims,
            Watches watches) {
        this.transactions = transactions;
        this.layout = layout;
        this.node = node;
        this.scheduler = scheduler;
        this.leases = leases;
        this.claims = claims;
        this.watches = watches;
    }

    Mono<Ownership> release(LockClaim claim) {
        return Mono.defer(() -> {
            Tracked it = claims.of(claim);
            boolean leavesTombstone = it.release(claim.attempt());
            watches.forget(claim.id());
            transactions.forget(claim.id(), claim.key().name());
            return it.afterExpiry(end(it, leavesTombstone))
                    .doOnNext(ended -> claims.remove(it))
                    .doOnError(error -> endLater(it))
                    .doOnCancel(() -> endLater(it));
        });
    }

    /** A release without an answer. The client that keeps the lease of the place must also see to its end. */
    private void endLater(Tracked it) {
        claims.keepFor(it, EtcdLockBackend.RETRY);
    }

    private Mono<Ownership> end(Tracked it, boolean leavesTombstone) {
        return leavesTombstone ? leases.ofTombstones().flatMap(lease -> end(it, lease)) : end(it, (EtcdLease) null);
    }

    private Mono<Ownership> end(Tracked it, @Nullable EtcdLease tombstones) {
        return Mono.defer(() -> {
            ByteSequence place = it.place(layout);
            long token = it.tokenIfHeld();
            Follower next = token != 0 && it.isFirst() ? claims.follower(it, layout) : null;
            List<Op> then = new ArrayList<>();
            boolean isUnknown = it.created() == 0; // an attempt without an answer may hold the lock; a waiter does not
            if (isUnknown) {
                then.add(firstPlaces(it.key()));
            } else if (next != null) {
                then.add(Op.get(next.claim().place(layout), GetOption.DEFAULT));
                watches.forget(next.claim().id());
            }
            then.addAll(List.of(it.deletions(layout)));
            List<Op> otherwise = new ArrayList<>();
            if (tombstones != null) {
                Op tombstone = tombstones.tombstone(layout, it.id());
                then.add(tombstone);
                otherwise.add(tombstone);
            }
            Mono<Answer> answer = transactions
                    .about(it.id())
                    .when(token == 0 ? Conditions.present(place) : Conditions.createdAt(place, token))
                    .then(then)
                    .orElse(otherwise);
            Mono<Ownership> ended = passingOn(next, answer)
                    .map(done -> done.isSucceeded() && (isUnknown ? line(done).holds(it.id()) : token != 0)
                            ? Ownership.HELD
                            : Ownership.NOT_HELD);
            return tombstones == null ? ended : leases.on(tombstones, ended);
        });
    }

    /**
     * The first claim of the line has held the lock until now. So the next one holds it, if its place is still there. Whatever comes of the release,
     * the next claim does not watch any more, and has to look. The time counts from before the request, since the answer may be late.
     */
    private Mono<Answer> passingOn(@Nullable Follower next, Mono<Answer> release) {
        long until = now() + PASSED_ON.toNanos();
        return next == null
                ? release
                : release.doOnNext(answer -> {
                            if (answer.isSucceeded() && created(answer) == next.created()) {
                                next.claim().passOn(next.created(), until);
                            }
                        })
                        .doFinally(end -> claims.changed(next.claim().id()));
    }

    /** The first place of a mutex or a writer tells whether it holds the lock. */
    private Op firstPlaces(LockKey key) {
        boolean isShared = key.kind() == LockKind.READ || key.kind() == LockKind.SEMAPHORE;
        return Op.get(
                layout.line(key),
                GetOption.builder()
                        .isPrefix(true)
                        .withSortField(GetOption.SortTarget.CREATE)
                        .withSortOrder(GetOption.SortOrder.ASCEND)
                        .withLimit(isShared ? 0 : 1)
                        .build());
    }

    private Line line(Answer answer) {
        return new Line(
                answer.reads().get(0).getKvs().stream().map(layout::place).toList());
    }

    /**
     * Ends a claim that was silent for its lease duration, or whose release had no answer. Emits whether it has ended: a request may have kept
     * it meanwhile.
     */
    Mono<Boolean> endOverdue(Tracked it) {
        if (it.isReleased()) {
            return end(it, true).thenReturn(true);
        }
        long known = it.modified();
        if (known != 0) {
            return endUnchanged(it, known);
        }
        return transactions.read(Op.get(it.place(layout), GetOption.DEFAULT)).flatMap(read -> endFound(it, read));
    }

    /** A request without an answer may have written it. What another client has written, that client keeps. */
    private Mono<Boolean> endFound(Tracked it, Answer answer) {
        List<Place> found = line(answer).places();
        return !found.isEmpty() && found.get(0).node().equals(node)
                ? endUnchanged(it, found.get(0).modified())
                : Mono.just(!it.isKept(now()));
    }

    /** However late this arrives, it deletes only the place with this revision: neither a later one, nor one that was kept since. */
    private Mono<Boolean> endUnchanged(Tracked it, long revision) {
        return Mono.defer(() -> {
            if (!it.beginDeletion(revision, now())) {
                return Mono.just(false);
            }
            ByteSequence place = it.place(layout);
            return transactions
                    .about(it.id())
                    .when(Conditions.modifiedAt(place, revision))
                    .then(it.deletions(layout))
                    .orElse(Op.get(place, GetOption.DEFAULT))
                    .flatMap(answer -> answer.isSucceeded() ? Mono.just(true) : endFound(it, answer));
        });
    }

    /** {@return the revision that created the place that was read first; 0 if there is none} */
    private static long created(Answer answer) {
        return answer.reads().get(0).getKvs().stream()
                .mapToLong(KeyValue::getCreateRevision)
                .findFirst()
                .orElse(0);
    }

    private long now() {
        return scheduler.now(NANOSECONDS);
    }
}
