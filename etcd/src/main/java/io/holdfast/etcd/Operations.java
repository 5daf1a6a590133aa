package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockQueueFullException;
import io.holdfast.etcd.Failures.Subject;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The requests of claims. Each changes the store in one transaction. */
final class Operations {

    /** Reads in one transaction. The default limit of etcd is 128 operations. */
    private static final int BATCH = 100;

    private static final int MOST_RETRIES = 3;

    private final KV kv;
    private final Layout layout;
    private final String node;
    private final int maxWaiters;
    private final Scheduler scheduler;
    private final Leases leases;
    private final Claims claims;
    private final Watches watches;
    private final Turns turns;

    Operations(
            Client client,
            Layout layout,
            String node,
            int maxWaiters,
            Scheduler scheduler,
            Leases leases,
            Claims claims,
            Watches watches) {
        kv = client.getKVClient();
        this.layout = layout;
        this.node = node;
        this.maxWaiters = maxWaiters;
        this.scheduler = scheduler;
        this.leases = leases;
        this.claims = claims;
        this.watches = watches;
        turns = new Turns(scheduler);
    }

    // ---- attempts

    Mono<LockAttempt> acquire(LockClaim claim) {
        return Mono.defer(() -> {
            Tracked it = claims.of(claim);
            if (it.isReleased()) {
                return Mono.just(contended(claim));
            }
            boolean isOvertaken = it.send(claim.attempt());
            if (!isOvertaken) {
                claims.keepFor(it, claim.lease());
            }
            return afterExpiry(it, attempt(claim, it, isOvertaken))
                    .doOnNext(answer -> settled(claim, it, answer, isOvertaken))
                    .doOnError(error -> failed(it, error))
                    .doOnCancel(it::unanswered);
        });
    }

    private void failed(Tracked it, Throwable error) {
        if (error instanceof LockQueueFullException) { // it has left
            it.answered();
            claims.removeIfIdle(it);
        } else {
            it.unanswered();
        }
    }

    private void settled(LockClaim claim, Tracked it, LockAttempt answer, boolean isOvertaken) {
        it.answered();
        if (answer instanceof LockAttempt.Contended) {
            claims.removeIfIdle(it);
        } else if (!isOvertaken) {
            claims.keepFor(it, claim.lease());
        }
    }

    private Mono<LockAttempt> attempt(LockClaim claim, Tracked it, boolean isOvertaken) {
        return Mono.defer(() -> {
            if (it.created() != 0 || isOvertaken) {
                return look(claim, it, isOvertaken ? Mono.just(contended(claim)) : attempt(claim, it, false));
            }
            return claim.waiting() == Waiting.QUEUE
                    ? turns.inTurn(layout.line(claim.key()), enter(claim, it))
                    : enterIfFree(claim, it);
        });
    }

    /** Reads first: a claim that must not wait would only come and go in the line of a held lock. */
    private Mono<LockAttempt> enterIfFree(LockClaim claim, Tracked it) {
        Op question = Standing.question(layout, claim.key(), claim.key().kind(), 0);
        return read(question).flatMap(answer -> {
            Standing standing =
                    standing(claim, claim.key().kind(), answer.getGetResponses().get(0));
            return standing.holds() ? enter(claim, it) : Mono.just(refused(claim, it, standing, revision(answer)));
        });
    }

    private Mono<LockAttempt> enter(LockClaim claim, Tracked it) {
        Mono<LockAttempt> once = Mono.defer(() -> {
            long start = now();
            return leases.ofPresence()
                    .flatMap(lease -> withLease(lease, entering(claim, it, lease))
                            .flatMap(answer -> entered(claim, it, lease, start, answer)));
        });
        return once.onErrorResume(Leases::saysNotFound, leaseHasEnded -> once);
    }

    private Mono<TxnResponse> entering(LockClaim claim, Tracked it, EtcdLease lease) {
        LockKey key = claim.key();
        ByteSequence place = it.place(layout);
        PutOption onLease = PutOption.builder().withLeaseId(lease.id()).build();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.put(place, Place.text(claim, node), onLease));
        if (key.kind() == LockKind.WRITE) {
            ops.add(Op.put(layout.mark(key, claim.id()), ByteSequence.EMPTY, onLease));
        }
        ops.add(Standing.question(layout, key, key.kind(), 0));
        ops.add(count(key));
        return commit(txn().If(absent(place), absent(layout.gone(claim.id())))
                .Then(ops.toArray(Op[]::new))
                .Else(Op.get(place, GetOption.DEFAULT)));
    }

    private Mono<LockAttempt> entered(LockClaim claim, Tracked it, EtcdLease lease, long start, TxnResponse answer) {
        List<GetResponse> reads = answer.getGetResponses();
        if (!answer.isSucceeded()) {
            List<KeyValue> place = reads.get(0).getKvs();
            if (place.isEmpty()) { // a tombstone
                return Mono.just(contended(claim));
            }
            placed(it, layout.place(place.get(0)));
            return look(claim, it, enter(claim, it)); // not in another turn: this one would wait for itself
        }
        long created = revision(answer);
        it.placed(claim.key().kind(), created, lease);
        Standing standing = standing(claim, claim.key().kind(), reads.get(0));
        if (standing.holds()) {
            it.hold();
            return Mono.just(new LockAttempt.Acquired(created, atMost(claim.lease(), lease, start)));
        }
        if (claim.waiting() != Waiting.QUEUE) {
            return leave(it).thenReturn(refused(claim, it, standing, created));
        }
        long waiting = reads.get(1).getCount() - 1;
        if (waiting > maxWaiters) {
            return leave(it).then(Mono.error(() -> full(claim, waiting)));
        }
        return Mono.just(queued(claim, it, standing, created));
    }

    private LockQueueFullException full(LockClaim claim, long waiting) {
        String name = claim.key().name();
        return new LockQueueFullException(
                name,
                maxWaiters,
                "cannot wait for lock '%s' in etcd: %d claims wait, and the limit is %d; raise maxWaiters, or let fewer claims wait"
                        .formatted(Printable.text(name), waiting - 1, maxWaiters));
    }

    /** Deletes the place of a claim that stays known. */
    private Mono<TxnResponse> leave(Tracked it) {
        return commit(txn().If(is(it.place(layout), it.created())).Then(deletions(it)))
                .doOnNext(done -> {
                    boolean unused = it.lose();
                });
    }

    /** An attempt of a claim that has a place. */
    private Mono<LockAttempt> look(LockClaim claim, Tracked it, Mono<LockAttempt> ifGone) {
        return Mono.defer(() -> {
            long start = now();
            LockKind role = it.role();
            long created = it.created();
            return read(
                            Op.get(it.place(layout), GetOption.DEFAULT),
                            Op.get(layout.gone(claim.id()), GetOption.DEFAULT),
                            Standing.question(layout, claim.key(), role, Math.max(created, 1)))
                    .flatMap(answer -> {
                        List<GetResponse> reads = answer.getGetResponses();
                        if (reads.get(0).getKvs().isEmpty()) {
                            boolean unused = it.lose();
                            return reads.get(1).getCount() > 0 ? Mono.just(contended(claim)) : ifGone;
                        }
                        Place place = layout.place(reads.get(0).getKvs().get(0));
                        if (place.created() != created || place.kind() != role) {
                            placed(it, place);
                            return look(claim, it, ifGone);
                        }
                        Standing standing = standing(claim, place, reads.get(2));
                        return judged(claim, it, place, standing, start, revision(answer), ifGone);
                    });
        });
    }

    private long leastLeft(LockClaim claim) {
        return Math.min(claim.lease().toNanos(), leases.presence().toNanos() / 2);
    }

    private void placed(Tracked it, Place place) {
        it.placed(place, leases.byId(place.lease()));
    }

    private Mono<LockAttempt> judged(
            LockClaim claim,
            Tracked it,
            Place place,
            Standing standing,
            long start,
            long revision,
            Mono<LockAttempt> ifGone) {
        boolean isOtherSide = claim.key().kind() != place.kind();
        if (isOtherSide && !(standing.holds() && place.kind() == LockKind.WRITE)) {
            return Mono.just(contended(claim));
        }
        if (!standing.holds()) {
            return claim.waiting() == Waiting.QUEUE
                    ? Mono.just(queued(claim, it, standing, revision))
                    : leave(it).thenReturn(refused(claim, it, standing, revision));
        }
        it.hold();
        EtcdLease lease = it.lease();
        // Another client has kept it so far, or this one has not reached etcd for a while.
        if (lease == null || lease.leftNanos(start) < leastLeft(claim)) {
            return keep(claim, it, place, 0)
                    .flatMap(kept -> kept instanceof Renewal.Held held
                            ? Mono.just(new LockAttempt.Acquired(place.created(), held.lease()))
                            : look(claim, it, ifGone));
        }
        LockAttempt acquired = new LockAttempt.Acquired(place.created(), atMost(claim.lease(), lease, start));
        return isOtherSide ? downgrade(claim, it, place, lease).thenReturn(acquired) : Mono.just(acquired);
    }

    /** The place keeps its revision, which is the token. The deletion of the mark tells the readers behind it. */
    private Mono<TxnResponse> downgrade(LockClaim claim, Tracked it, Place place, EtcdLease lease) {
        ByteSequence key = it.place(layout);
        ByteSequence reader = place.text(LockKind.READ, place.leaseMillis(), node);
        return commit(txn().If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(place.modified())))
                        .Then(
                                Op.put(
                                        key,
                                        reader,
                                        PutOption.builder()
                                                .withLeaseId(lease.id())
                                                .build()),
                                Op.delete(layout.mark(claim.key(), claim.id()), DeleteOption.DEFAULT)))
                .flatMap(answer -> {
                    if (!answer.isSucceeded()) {
                        return Mono.error(
                                new IllegalStateException("the claim was changed by another request meanwhile"));
                    }
                    it.isReader(revision(answer));
                    return Mono.just(answer);
                });
    }

    private LockAttempt queued(LockClaim claim, Tracked it, Standing standing, long revision) {
        await(claim, it, standing, it.created(), revision);
        return new LockAttempt.Queued(recheck(claim));
    }

    private LockAttempt refused(LockClaim claim, Tracked it, Standing standing, long revision) {
        if (claim.waiting() != Waiting.NONE) {
            await(claim, it, standing, Long.MAX_VALUE, revision);
        }
        return contended(claim);
    }

    private void await(LockClaim claim, Tracked it, Standing standing, long created, long revision) {
        if (claims.isWatched(claim.id()) && !it.isReleased()) {
            watches.await(new Watches.Wish(
                    claim.id(), layout.line(claim.key()), standing.blocker(), created, standing.missing(), revision));
        }
    }

    private static LockAttempt contended(LockClaim claim) {
        return new LockAttempt.Contended(recheck(claim));
    }

    /** A safety net for signals that get lost. It keeps the place fresh, too. */
    static Duration recheck(LockClaim claim) {
        return claim.lease().dividedBy(3);
    }

    // ---- renewals

    Flux<Renewal> renewAll(List<LockClaim> all) {
        return Flux.fromIterable(all)
                .buffer(BATCH)
                .flatMapSequential(some -> renewSome(some).flatMapIterable(answers -> answers));
    }

    private Mono<List<Renewal>> renewSome(List<LockClaim> some) {
        return Mono.defer(() -> {
            Duration longest =
                    some.stream().map(LockClaim::lease).max(Duration::compareTo).orElseThrow();
            List<Mono<Void>> expiries = new ArrayList<>();
            for (LockClaim claim : some) {
                Tracked it = claims.known(claim.id());
                if (it != null) {
                    claims.keepFor(it, claim.lease());
                    Mono<Void> expiry = it.expiry();
                    if (expiry != null) {
                        expiries.add(expiry);
                    }
                }
            }
            // The lease first: what is read then was kept by it.
            Op[] places = some.stream()
                    .map(it -> Op.get(layout.place(it.key(), it.id()), GetOption.DEFAULT))
                    .toArray(Op[]::new);
            return Mono.when(expiries)
                    .then(leases.of(longest))
                    .then(read(places))
                    .flatMapMany(answer -> Flux.range(0, some.size())
                            .flatMapSequential(i -> renewed(
                                    some.get(i), answer.getGetResponses().get(i))))
                    .collectList();
        });
    }

    private Mono<Renewal> renewed(LockClaim claim, GetResponse answer) {
        return Mono.defer(() -> {
                    Tracked known = claims.known(claim.id());
                    if (answer.getKvs().isEmpty()) {
                        if (known != null) {
                            boolean unused = known.lose();
                        }
                        return Mono.just(new Renewal.NotHeld());
                    }
                    Place place = layout.place(answer.getKvs().get(0));
                    if (known != null && known.tokenIfHeld() == place.created()) {
                        return keep(claim, known, place, 0);
                    }
                    return ifHeld(claim, place)
                            .flatMap(it -> keep(claim, it, place, 0))
                            .switchIfEmpty(notHeld());
                })
                .onErrorResume(error -> Mono.just(new Renewal.Unknown(
                        (io.holdfast.LockBackendException) Failures.of(Subject.of("renew", claim.key()), error))));
    }

    /** Emits the claim if it holds the lock by its place in the line, else nothing. */
    private Mono<Tracked> ifHeld(LockClaim claim, Place place) {
        return read(Standing.question(layout, claim.key(), place.kind(), place.created()))
                .filter(answer ->
                        standing(claim, place, answer.getGetResponses().get(0)).holds())
                .map(answer -> {
                    Tracked it = claims.of(claim);
                    placed(it, place);
                    it.hold();
                    return it;
                });
    }

    /** Makes sure that the place of a holder is on a lease of this client that suits its lease duration. */
    private Mono<Renewal> keep(LockClaim claim, Tracked it, Place place, int retries) {
        return Mono.defer(() -> {
            long start = now();
            return leases.of(claim.lease()).flatMap(lease -> {
                if (it.lease() == lease && place.lease() == lease.id()) {
                    claims.keepFor(it, claim.lease());
                    return Mono.just(held(claim, lease, start));
                }
                return withLease(lease, move(claim, it, place, lease, start, retries));
            });
        });
    }

    private Mono<Renewal> move(LockClaim claim, Tracked it, Place place, EtcdLease lease, long start, int retries) {
        ByteSequence key = it.place(layout);
        PutOption onLease = PutOption.builder().withLeaseId(lease.id()).build();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.put(key, place.text(place.kind(), claim.lease().toMillis(), node), onLease));
        if (place.kind() == LockKind.WRITE) {
            ops.add(Op.put(layout.mark(claim.key(), claim.id()), ByteSequence.EMPTY, onLease));
        }
        return commit(txn().If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(place.modified())))
                        .Then(ops.toArray(Op[]::new))
                        .Else(Op.get(key, GetOption.DEFAULT)))
                .flatMap(answer -> {
                    if (answer.isSucceeded()) {
                        it.attached(revision(answer), lease);
                        claims.keepFor(it, claim.lease());
                        return Mono.just(held(claim, lease, start));
                    }
                    List<KeyValue> now = answer.getGetResponses().get(0).getKvs();
                    if (now.isEmpty() || now.get(0).getCreateRevision() != place.created()) {
                        boolean unused = it.lose();
                        return notHeld();
                    }
                    return retries < MOST_RETRIES
                            ? keep(claim, it, layout.place(now.get(0)), retries + 1)
                            : Mono.error(
                                    new IllegalStateException("other requests of this claim keep coming in between"));
                });
    }

    private Renewal held(LockClaim claim, EtcdLease lease, long start) {
        return new Renewal.Held(atMost(claim.lease(), lease, start));
    }

    private static Mono<Renewal> notHeld() {
        return Mono.just(new Renewal.NotHeld());
    }

    Mono<Renewal> adopt(LockClaim claim, long token) {
        return Mono.defer(() -> {
            Op read = Op.get(layout.place(claim.key(), claim.id()), GetOption.DEFAULT);
            return read(read).flatMap(answer -> {
                List<KeyValue> found = answer.getGetResponses().get(0).getKvs();
                if (found.isEmpty() || found.get(0).getCreateRevision() != token) {
                    return notHeld();
                }
                Place place = layout.place(found.get(0));
                return ifHeld(claim, place)
                        .flatMap(it -> keep(claim, it, place, 0))
                        .switchIfEmpty(notHeld());
            });
        });
    }

    // ---- releases

    Mono<Ownership> release(LockClaim claim) {
        return Mono.defer(() -> {
            Tracked it = claims.of(claim);
            boolean leavesTombstone = it.release(claim.attempt());
            watches.forget(claim.id());
            return afterExpiry(it, end(it, leavesTombstone))
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
            List<Op> then = new ArrayList<>();
            if (token == 0) {
                then.add(Op.get(
                        layout.line(it.key()),
                        GetOption.builder()
                                .isPrefix(true)
                                .withSortField(GetOption.SortTarget.CREATE)
                                .withSortOrder(GetOption.SortOrder.ASCEND)
                                .build()));
            }
            then.addAll(List.of(deletions(it)));
            List<Op> otherwise = new ArrayList<>();
            if (tombstones != null) {
                Op tombstone = tombstone(it, tombstones);
                then.add(tombstone);
                otherwise.add(tombstone);
            }
            Mono<Ownership> ended = commit(txn().If(new Cmp(
                                    place,
                                    token == 0 ? Cmp.Op.NOT_EQUAL : Cmp.Op.EQUAL,
                                    CmpTarget.createRevision(token)))
                            .Then(then.toArray(Op[]::new))
                            .Else(otherwise.toArray(Op[]::new)))
                    .map(answer ->
                            answer.isSucceeded() && (token != 0 || line(answer).holds(it.id()))
                                    ? Ownership.HELD
                                    : Ownership.NOT_HELD);
            return tombstones == null ? ended : withLease(tombstones, ended);
        });
    }

    private Line line(TxnResponse answer) {
        return new Line(answer.getGetResponses().get(0).getKvs().stream()
                .map(layout::place)
                .toList());
    }

    private Op[] deletions(Tracked it) {
        Op place = Op.delete(it.place(layout), DeleteOption.DEFAULT);
        return it.key().kind() == LockKind.READ || it.key().kind() == LockKind.WRITE
                ? new Op[] {place, Op.delete(layout.mark(it.key(), it.id()), DeleteOption.DEFAULT)}
                : new Op[] {place};
    }

    /** Ends a claim that was silent for its lease duration, or whose release had no answer. */
    Mono<Void> endOverdue(Tracked it) {
        if (it.isReleased()) {
            return end(it, true).then();
        }
        long modified = it.modified();
        if (modified == 0) {
            return end(it, true).then();
        }
        // Another client that has adopted the claim has changed its place.
        Cmp unchanged = new Cmp(it.place(layout), Cmp.Op.EQUAL, CmpTarget.modRevision(modified));
        if (!it.mayArriveLate()) {
            return commit(unchanged, deletions(it)).then();
        }
        return leases.ofTombstones().flatMap(lease -> {
            List<Op> then = new ArrayList<>(List.of(deletions(it)));
            then.add(tombstone(it, lease));
            return withLease(lease, commit(unchanged, then.toArray(Op[]::new))).then();
        });
    }

    private Op tombstone(Tracked it, EtcdLease lease) {
        return Op.put(
                layout.gone(it.id()),
                ByteSequence.EMPTY,
                PutOption.builder().withLeaseId(lease.id()).build());
    }

    private <T> Mono<T> afterExpiry(Tracked it, Mono<T> request) {
        Mono<Void> expiry = it.expiry();
        return expiry == null ? request : expiry.then(request);
    }

    // ---- the store

    private Txn txn() {
        return kv.txn();
    }

    Mono<TxnResponse> read(Op... ops) {
        return Mono.defer(() -> commit(txn().Then(ops)));
    }

    /** Emits whether the comparison matched, and so the changes were made. */
    Mono<Boolean> commit(Cmp comparison, Op... changes) {
        return Mono.defer(() -> commit(txn().If(comparison).Then(changes))).map(TxnResponse::isSucceeded);
    }

    private static Mono<TxnResponse> commit(Txn txn) {
        return Answers.of(txn::commit);
    }

    /** If etcd does not know the lease, nothing was written. */
    private <T> Mono<T> withLease(EtcdLease lease, Mono<T> request) {
        return request.doOnError(Leases::saysNotFound, error -> leases.ended(lease));
    }

    private static Cmp absent(ByteSequence key) {
        return is(key, 0);
    }

    private static Cmp is(ByteSequence key, long created) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(created));
    }

    private Op count(LockKey key) {
        return Op.get(
                layout.line(key),
                GetOption.builder().isPrefix(true).withCountOnly(true).build());
    }

    private Standing standing(LockClaim claim, LockKind role, GetResponse answer) {
        return Standing.of(
                layout,
                role,
                layout.place(claim.key(), claim.id()),
                claim.permits(),
                claim.key().permits(),
                answer);
    }

    private Standing standing(LockClaim claim, Place place, GetResponse answer) {
        return Standing.of(
                layout, place.kind(), layout.place(claim.key(), claim.id()), place.permits(), place.limit(), answer);
    }

    private static long revision(TxnResponse answer) {
        return answer.getHeader().getRevision();
    }

    /** The lease duration counts from the time when the client began, which is not after its claim was sent. */
    private static Duration atMost(Duration asked, EtcdLease lease, long start) {
        Duration left = Duration.ofMillis(NANOSECONDS.toMillis(Math.max(lease.leftNanos(start), 1_000_000)));
        return left.compareTo(asked) < 0 ? left : asked;
    }

    private long now() {
        return scheduler.now(NANOSECONDS);
    }
}
