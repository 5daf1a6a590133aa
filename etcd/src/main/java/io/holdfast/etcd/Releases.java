package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.etcd.Followers.Follower;
import io.holdfast.etcd.Transactions.Answer;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The ends of claims: releases, withdrawals, and those of claims that were silent. */
final class Releases {

    private final Transactions transactions;
    private final Layout layout;
    private final Leases leases;
    private final Claims claims;
    private final Watches watches;

    Releases(Transactions transactions, Layout layout, Leases leases, Claims claims, Watches watches) {
        this.transactions = transactions;
        this.layout = layout;
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
            ByteSequence place = it.place();
            if (place != null) {
                boolean isHeld = it.tokenIfHeld() != 0;
                return end(it, place, it.created(), isHeld, isHeld || it.created() != 0, tombstones);
            }
            if (it.sought() != 0) { // an adoption has failed
                return transactions
                        .read(layout.withToken(it.key(), it.sought()))
                        .flatMap(read -> {
                            Place found = layout.placeOf(it.id(), read.reads().get(0));
                            return found == null
                                    ? endAbsent(it, tombstones)
                                    : end(it, found.key(), found.created(), false, false, tombstones);
                        });
            }
            return endAbsent(it, tombstones);
        });
    }

    /** It has no place, as far as this client can know. */
    private Mono<Ownership> endAbsent(Tracked it, @Nullable EtcdLease tombstones) {
        return tombstones == null
                ? Mono.just(Ownership.NOT_HELD)
                : ending(it, List.of(), List.of(), List.of(), tombstones).thenReturn(Ownership.NOT_HELD);
    }

    /** However late this arrives, it ends only the place with this revision: the key may be that of another claim by then. */
    private Mono<Ownership> end(
            Tracked it,
            ByteSequence place,
            long created,
            boolean isHeld,
            boolean isKnown,
            @Nullable EtcdLease tombstones) {
        Follower next = isHeld && it.isFirst() ? claims.followers().take(it, place, layout) : null;
        List<Op> then = new ArrayList<>();
        if (next != null) {
            then.add(Op.get(next.place(), GetOption.DEFAULT));
            watches.forget(next.claim().id());
        } else if (!isKnown && created != 0) {
            then.add(Standing.question(layout, it.key(), it.role(), created));
        }
        if (created != 0) {
            then.addAll(it.deletions(layout, place));
        }
        Op look = Op.get(place, GetOption.DEFAULT);
        return passingOn(
                        next,
                        ending(it, List.of(Conditions.createdAt(place, created)), then, List.of(look), tombstones))
                .flatMap(done -> {
                    Place found = done.isSucceeded()
                            ? null
                            : layout.placeOf(it.id(), done.reads().get(0));
                    if (found != null) { // an attempt without an answer has come after all
                        return end(it, place, found.created(), false, false, tombstones);
                    }
                    boolean wasHeld = done.isSucceeded()
                            && created != 0
                            && (isKnown ? isHeld : standing(it, place, done).holds());
                    return Mono.just(wasHeld ? Ownership.HELD : Ownership.NOT_HELD);
                });
    }

    private Standing standing(Tracked it, ByteSequence place, Answer answer) {
        return Standing.of(
                layout,
                it.role(),
                place,
                it.permits(),
                it.key().permits(),
                answer.reads().get(0));
    }

    /** A transaction that ends a claim. A tombstone, if it needs one, is written whatever the conditions say. */
    private Mono<Answer> ending(
            Tracked it, List<Cmp> conditions, List<Op> then, List<Op> otherwise, @Nullable EtcdLease tombstones) {
        List<Op> ifMet = new ArrayList<>(then);
        List<Op> ifNot = new ArrayList<>(otherwise);
        if (tombstones != null) {
            ifMet.add(tombstones.tombstone(layout, it.id()));
            ifNot.add(tombstones.tombstone(layout, it.id()));
        }
        Mono<Answer> answer = transactions
                .about(it.id())
                .freeing(it.key().name(), claims.isFollowed(it))
                .when(conditions.toArray(Cmp[]::new))
                .then(ifMet)
                .orElse(ifNot);
        return tombstones == null ? answer : leases.on(tombstones, answer);
    }

    /**
     * The first claim of the line has held the lock until now. So the next one holds it, if its place is still there. Whatever comes of the release,
     * the next claim does not watch any more, and has to look. The time counts from before the request, since the answer may be late.
     */
    private Mono<Answer> passingOn(@Nullable Follower next, Mono<Answer> release) {
        long until = claims.now() + Claims.PASSED_ON.toNanos();
        return next == null
                ? release
                : release.doOnNext(answer -> {
                            if (answer.isSucceeded() && created(answer) == next.created()) {
                                next.claim().passOn(next.created(), until);
                            }
                        })
                        .doOnTerminate(() ->
                                claims.changed(next.claim().id())) // before the answer, whose handler may take long
                        .doOnCancel(() -> claims.changed(next.claim().id()));
    }

    /**
     * Ends a claim that was silent for its lease duration, or whose release had no answer. Emits whether it has ended: a request may have kept
     * it meanwhile.
     */
    Mono<Boolean> endOverdue(Tracked it) {
        if (it.isReleased()) {
            return end(it, true).thenReturn(true);
        }
        ByteSequence place = it.place();
        if (place == null) {
            return Mono.just(!it.isKept(claims.now()));
        }
        long known = it.modified();
        return known != 0
                ? endUnchanged(it, place, known)
                : transactions.read(Op.get(place, GetOption.DEFAULT)).flatMap(read -> endFound(it, place, read));
    }

    /** A request without an answer may have written it. What another client has written, that client keeps. */
    private Mono<Boolean> endFound(Tracked it, ByteSequence place, Answer answer) {
        Place found = layout.placeOf(it.id(), answer.reads().get(0));
        return found != null && found.node().equals(layout.node())
                ? endUnchanged(it, place, found.modified())
                : Mono.just(!it.isKept(claims.now()));
    }

    /** However late this arrives, it deletes only the place with this revision: neither a later one, nor one that was kept since. */
    private Mono<Boolean> endUnchanged(Tracked it, ByteSequence place, long revision) {
        return Mono.defer(() -> {
            if (!it.beginDeletion(revision, claims.now())) {
                return Mono.just(false);
            }
            return transactions
                    .about(it.id())
                    .when(Conditions.modifiedAt(place, revision))
                    .then(it.deletions(layout, place))
                    .orElse(Op.get(place, GetOption.DEFAULT))
                    .flatMap(answer -> answer.isSucceeded() ? Mono.just(true) : endFound(it, place, answer));
        });
    }

    /** {@return the revision that created the place that was read first; 0 if there is none} */
    private static long created(Answer answer) {
        return answer.reads().get(0).getKvs().stream()
                .mapToLong(KeyValue::getCreateRevision)
                .findFirst()
                .orElse(0);
    }
}
