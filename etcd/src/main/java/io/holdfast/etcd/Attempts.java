package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.LockQueueFullException;
import io.holdfast.etcd.Transactions.Answer;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The attempts of claims to take their locks. */
final class Attempts {

    private static final Duration LONGEST_TURN = Duration.ofSeconds(1);

    private final Transactions transactions;
    private final Layout layout;
    private final int maxWaiters;
    private final Leases leases;
    private final Claims claims;
    private final Watches watches;
    private final Renewals renewals;

    Attempts(
            Transactions transactions,
            Layout layout,
            int maxWaiters,
            Leases leases,
            Claims claims,
            Watches watches,
            Renewals renewals) {
        this.transactions = transactions;
        this.layout = layout;
        this.maxWaiters = maxWaiters;
        this.leases = leases;
        this.claims = claims;
        this.watches = watches;
        this.renewals = renewals;
    }

    Mono<LockAttempt> acquire(LockClaim claim) {
        return Mono.defer(() -> {
            Tracked it = claims.attempting(claim);
            if (it.isReleased()) {
                it.answered();
                return Mono.just(contended(claim));
            }
            boolean isOvertaken = it.isOvertaken(claim.attempt());
            if (!isOvertaken) {
                claims.keepFor(it, claim.lease());
            }
            LockAttempt passedOn = isOvertaken || it.expiry() != null ? null : passedOn(claim, it);
            if (passedOn != null) {
                settled(claim, it, passedOn, false);
                return Mono.just(passedOn);
            }
            return it.afterExpiry(attempt(claim, it, isOvertaken))
                    .doOnNext(answer -> settled(claim, it, answer, isOvertaken))
                    .doOnError(error -> failed(it, error))
                    .doOnCancel(() -> it.unanswered(claims.now()));
        });
    }

    private void failed(Tracked it, Throwable error) {
        if (error instanceof LockQueueFullException) { // it has left
            it.answered();
            claims.removeIfIdle(it);
        } else if (isUnsent(error)) {
            it.answered();
        } else {
            it.unanswered(claims.now());
        }
    }

    private static boolean isUnsent(Throwable error) {
        return error instanceof LockBackendException unsent
                && unsent.retryAfter().isPresent();
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
            if (isOvertaken) {
                return look(claim, it, Mono.just(contended(claim)));
            }
            if (it.created() != 0) {
                return look(claim, it, attempt(claim, it, false));
            }
            return claim.waiting() == Waiting.QUEUE ? enter(claim, it) : enterIfFree(claim, it);
        });
    }

    /** The lock that a release of this client has just passed on to the claim; null if there is none. */
    private @Nullable LockAttempt passedOn(LockClaim claim, Tracked it) {
        long now = claims.now();
        long token = it.takePassedOn(now);
        EtcdLease lease = it.lease();
        return token == 0 || it.role() != claim.key().kind() || lease == null || lease.leftNanos(now) < leastLeft(claim)
                ? null
                : new LockAttempt.Acquired(token, lease.atMost(claim.lease(), now));
    }

    /**
     * Reads first: a claim that must not wait would only come and go in the line of a held lock. It may have a place already, by an attempt
     * whose answer was lost.
     */
    private Mono<LockAttempt> enterIfFree(LockClaim claim, Tracked it) {
        ByteSequence known = claims.slot(it);
        Op question = Standing.question(layout, claim.key(), claim.key().kind(), 0);
        return transactions.read(question, Op.get(known, GetOption.DEFAULT)).flatMap(answer -> {
            List<GetResponse> reads = answer.reads();
            Place place = layout.placeOf(claim.id(), reads.get(1));
            if (place != null) {
                placed(it, place);
                return look(claim, it, enterIfFree(claim, it));
            }
            Standing standing = standing(claim, claim.key().kind(), reads.get(0), null); // its key may be another's
            return standing.holds()
                    ? enter(claim, it).onErrorResume(Attempts::isUnsent, othersAreFirst -> {
                        transactions.forget(claim.id(), claim.key().name());
                        return Mono.just(contended(claim));
                    })
                    : Mono.just(contended(claim));
        });
    }

    private Mono<LockAttempt> enter(LockClaim claim, Tracked it) {
        Mono<LockAttempt> once = Mono.defer(() -> {
            long start = claims.now();
            ByteSequence place = claims.slot(it);
            return leases.ofPresence()
                    .flatMap(lease -> leases.on(lease, entering(claim, place, lease))
                            .flatMap(answer -> entered(claim, it, place, lease, start, answer)));
        });
        return once.onErrorResume(Leases::saysNotFound, leaseHasEnded -> once);
    }

    private Mono<Answer> entering(LockClaim claim, ByteSequence place, EtcdLease lease) {
        LockKey key = claim.key();
        PutOption onLease = lease.attached();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.put(place, Place.text(claim, layout.node()), onLease));
        if (key.kind() == LockKind.WRITE) {
            ops.add(Op.put(layout.mark(place), ByteSequence.EMPTY, onLease));
        }
        ops.add(Standing.question(layout, key, key.kind(), 0));
        if (key.kind() == LockKind.READ) {
            ops.add(count(key));
        }
        // The revision orders the line, and is the token: no two places of one name are created by one transaction.
        return transactions
                .about(claim.id())
                .inTurn(key.name(), turnWithin(claim))
                .when(Conditions.absent(place), Conditions.absent(layout.gone(claim.id())))
                .then(ops)
                .orElse(Op.get(place, GetOption.DEFAULT));
    }

    /** Before the client gives up its attempt, whose outcome would then be unknown. */
    private static Duration turnWithin(LockClaim claim) {
        Duration within = claim.lease().dividedBy(8);
        return within.compareTo(LONGEST_TURN) < 0 ? within : LONGEST_TURN;
    }

    private Mono<LockAttempt> entered(
            LockClaim claim, Tracked it, ByteSequence place, EtcdLease lease, long start, Answer answer) {
        List<GetResponse> reads = answer.reads();
        if (!answer.isSucceeded()) {
            Place own = layout.placeOf(claim.id(), reads.get(0));
            if (own != null) {
                placed(it, own);
                return look(claim, it, enter(claim, it));
            }
            if (reads.get(0).getKvs().isEmpty()) { // a tombstone
                return Mono.just(contended(claim));
            }
            if (it.hasOtherAttempts()) { // one of them may still arrive at this key, and is found only here
                return Mono.just(contended(claim));
            }
            claims.leaveSlot(it, place);
            return enter(claim, it);
        }
        long created = answer.revision();
        it.placed(claim.key().kind(), created, lease);
        if (lease.hasEnded()) { // while the answer was on its way; its end has signalled the other claims
            return look(claim, it, enter(claim, it));
        }
        Standing standing = standing(claim, claim.key().kind(), reads.get(0), place);
        if (standing.holds()) {
            it.hold(created);
            return Mono.just(new LockAttempt.Acquired(created, lease.atMost(claim.lease(), start)));
        }
        if (claim.waiting() != Waiting.QUEUE) {
            return leave(it, place).thenReturn(contended(claim));
        }
        // The count is that of the whole line, whatever the limit of the read.
        long waiting = reads.get(reads.size() - 1).getCount() - 1;
        if (waiting > maxWaiters) {
            return leave(it, place).then(Mono.error(() -> full(claim, waiting)));
        }
        long ahead = claim.key().kind() == LockKind.READ ? Watches.UNKNOWN : waiting;
        return Mono.just(queued(claim, it, standing, place, created, ahead, answer));
    }

    private LockQueueFullException full(LockClaim claim, long waiting) {
        String name = claim.key().name();
        return new LockQueueFullException(
                name,
                maxWaiters,
                "cannot wait for lock '%s' in etcd: %d claims wait, and the limit is %d; raise maxWaiters, or let fewer claims wait"
                        .formatted(Printable.text(name), waiting - 1, maxWaiters));
    }

    /** Deletes the place of a claim that stays known. However late this arrives, it deletes no place that was kept since. */
    private Mono<Answer> leave(Tracked it, ByteSequence place) {
        return Mono.defer(() -> {
            long modified = it.beginDeletion();
            return transactions
                    .about(it.id())
                    .when(Conditions.modifiedAt(place, modified))
                    .then(it.deletions(layout, place))
                    .commit()
                    .doOnNext(done -> it.loseIfUnchanged(modified));
        });
    }

    /** An attempt of a claim that has a place. */
    private Mono<LockAttempt> look(LockClaim claim, Tracked it, Mono<LockAttempt> ifGone) {
        return Mono.defer(() -> {
            long start = claims.now();
            LockKind role = it.role();
            long created = it.created();
            ByteSequence known = it.place();
            if (known == null) {
                return ifGone;
            }
            return transactions
                    .read(
                            Op.get(known, GetOption.DEFAULT),
                            Op.get(layout.gone(claim.id()), GetOption.DEFAULT),
                            Standing.question(layout, claim.key(), role, Math.max(created, 1)))
                    .flatMap(answer -> {
                        List<GetResponse> reads = answer.reads();
                        Place place = layout.placeOf(claim.id(), reads.get(0));
                        if (place == null) {
                            boolean unused = it.lose();
                            return reads.get(1).getCount() > 0 ? Mono.just(contended(claim)) : ifGone;
                        }
                        placed(it, place); // a change whose answer was lost may have attached it to another lease
                        if (place.created() != created || place.kind() != role) {
                            return look(claim, it, ifGone);
                        }
                        Standing standing = Standing.of(layout, place, reads.get(2));
                        return judged(claim, it, place, standing, start, answer, ifGone);
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
            Answer answer,
            Mono<LockAttempt> ifGone) {
        boolean isOtherSide = claim.key().kind() != place.kind();
        if (isOtherSide && !(standing.holds() && place.kind() == LockKind.WRITE)) {
            return Mono.just(contended(claim));
        }
        if (!standing.holds()) {
            if (claim.waiting() != Waiting.QUEUE) {
                return leave(it, place.key()).thenReturn(contended(claim));
            }
            return it.mayBeDeleted(place.modified()) // it enters again, if there are not too many now
                    ? leave(it, place.key()).then(ifGone)
                    : Mono.just(queued(claim, it, standing, place.key(), place.created(), Watches.UNKNOWN, answer));
        }
        it.hold(place.created());
        EtcdLease lease = it.lease();
        // Another client has kept it so far, or this one has not reached etcd for a while.
        if (lease == null || lease.leftNanos(start) < leastLeft(claim) || it.mayBeDeleted(place.modified())) {
            return renewals.keep(claim, it, place)
                    .flatMap(kept -> kept instanceof Renewal.Held held && !isOtherSide
                            ? Mono.just(new LockAttempt.Acquired(place.created(), held.lease()))
                            : look(claim, it, ifGone));
        }
        LockAttempt acquired = new LockAttempt.Acquired(place.created(), lease.atMost(claim.lease(), start));
        return isOtherSide
                ? downgrade(it, place, lease)
                        .flatMap(isReader -> isReader ? Mono.just(acquired) : look(claim, it, ifGone))
                : Mono.just(acquired);
    }

    /**
     * The place keeps its revision, which is the token. The deletion of the mark tells the readers behind it. Emits false if another request,
     * such as a renewal, has changed the place since it was read.
     */
    private Mono<Boolean> downgrade(Tracked it, Place place, EtcdLease lease) {
        ByteSequence key = place.key();
        ByteSequence reader = place.text(LockKind.READ, place.leaseMillis(), layout.node());
        return transactions
                .about(it.id())
                .when(Conditions.modifiedAt(key, place.modified()))
                .then(Op.put(key, reader, lease.attached()), Op.delete(layout.mark(key), DeleteOption.DEFAULT))
                .commit()
                .map(answer -> {
                    if (answer.isSucceeded()) {
                        it.isReader(answer.revision());
                    }
                    return answer.isSucceeded();
                });
    }

    private LockAttempt queued(
            LockClaim claim,
            Tracked it,
            Standing standing,
            ByteSequence place,
            long created,
            long ahead,
            Answer answer) {
        if (claims.isWaiting(claim.id())) {
            LockKey key = claim.key();
            ByteSequence blocker = standing.blocker();
            Watches.Wish wish = new Watches.Wish(
                    claim.id(),
                    key.kind() == LockKind.READ ? layout.marks(key) : layout.line(key),
                    blocker,
                    created,
                    blocker == null ? standing.missing() : ahead,
                    answer);
            if (blocker == null) {
                watches.await(wish);
            } else {
                claims.follow(it, place, blocker, wish);
            }
        }
        return new LockAttempt.Queued(recheck(claim));
    }

    private static LockAttempt contended(LockClaim claim) {
        return new LockAttempt.Contended(recheck(claim));
    }

    /** A safety net for signals that get lost. It keeps the place fresh, too. */
    static Duration recheck(LockClaim claim) {
        return claim.lease().dividedBy(3);
    }

    private Op count(LockKey key) {
        return Op.get(
                layout.line(key),
                GetOption.builder().isPrefix(true).withCountOnly(true).build());
    }

    private Standing standing(LockClaim claim, LockKind role, GetResponse answer, @Nullable ByteSequence place) {
        return Standing.of(layout, role, place, claim.permits(), claim.key().permits(), answer);
    }
}
