package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.etcd.Failures.Subject;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The renewals of holders. The place of each is kept on a lease of its client that suits its lease duration. */
final class Renewals {

    private static final int MOST_RETRIES = 3;

    private final Transactions transactions;
    private final Layout layout;
    private final Leases leases;
    private final Claims claims;

    Renewals(Transactions transactions, Layout layout, Leases leases, Claims claims) {
        this.transactions = transactions;
        this.layout = layout;
        this.leases = leases;
        this.claims = claims;
    }

    Flux<Renewal> renewAll(List<LockClaim> all) {
        return Flux.fromIterable(all)
                .buffer(Transactions.MOST_OPERATIONS)
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
            Op[] places = some.stream().map(this::find).toArray(Op[]::new);
            return Mono.when(expiries)
                    .then(leases.of(longest))
                    .then(transactions.readFirst(places))
                    .flatMapMany(answer -> Flux.range(0, some.size())
                            .flatMapSequential(
                                    i -> renewed(some.get(i), answer.reads().get(i))))
                    .collectList();
        });
    }

    /** This client may not have the claim, or not know where its place is: then it is searched for. */
    private Op find(LockClaim claim) {
        Tracked known = claims.known(claim.id());
        ByteSequence place = known == null ? null : known.place();
        return place != null
                ? Op.get(place, GetOption.DEFAULT)
                : Op.get(
                        layout.line(claim.key()),
                        GetOption.builder().isPrefix(true).build());
    }

    private Mono<Renewal> renewed(LockClaim claim, GetResponse answer) {
        return Mono.defer(() -> {
                    Tracked known = claims.known(claim.id());
                    Place place = layout.placeOf(claim.id(), answer);
                    if (place == null) {
                        if (known != null) {
                            boolean unused = known.lose();
                        }
                        return Mono.just(new Renewal.NotHeld());
                    }
                    if (known != null && known.tokenIfHeld() == place.created()) {
                        return keep(claim, known, place);
                    }
                    return ifHeld(claim, place);
                })
                .onErrorResume(error -> Mono.just(new Renewal.Unknown(
                        (LockBackendException) Failures.of(Subject.of("renew", claim.key()), error))));
    }

    /** Keeps a claim that holds the lock by its place in the line. */
    private Mono<Renewal> ifHeld(LockClaim claim, Place seen) {
        return transactions
                .read(
                        Op.get(seen.key(), GetOption.DEFAULT),
                        Standing.question(layout, claim.key(), seen.kind(), seen.created()))
                .flatMap(answer -> {
                    Place place = layout.placeOf(claim.id(), answer.reads().get(0));
                    if (place == null
                            || place.created() != seen.created()
                            || !Standing.of(layout, seen, answer.reads().get(1)).holds()) {
                        return notHeld();
                    }
                    Tracked it = claims.of(claim);
                    it.placed(place, leases.byId(place.lease()));
                    it.hold(place.created());
                    return keep(claim, it, place);
                });
    }

    /** Makes sure that the place of a holder is on a lease of this client that suits its lease duration. */
    Mono<Renewal> keep(LockClaim claim, Tracked it, Place place) {
        return keep(claim, it, place, 0);
    }

    private Mono<Renewal> keep(LockClaim claim, Tracked it, Place place, int retries) {
        return Mono.defer(() -> {
            long start = claims.now();
            return leases.of(claim.lease()).flatMap(lease -> {
                claims.keepFor(it, claim.lease()); // from here on no deletion begins
                if (it.lease() == lease && place.lease() == lease.id() && !it.mayBeDeleted(place.modified())) {
                    return Mono.just(held(claim, lease, start));
                }
                return leases.on(lease, move(claim, it, place, lease, start, retries));
            });
        });
    }

    private Mono<Renewal> move(LockClaim claim, Tracked it, Place place, EtcdLease lease, long start, int retries) {
        ByteSequence key = place.key();
        PutOption onLease = lease.attached();
        List<Op> ops = new ArrayList<>();
        ops.add(Op.put(key, place.text(place.kind(), claim.lease().toMillis(), layout.node()), onLease));
        if (place.kind() == LockKind.WRITE) {
            ops.add(Op.put(layout.mark(key), ByteSequence.EMPTY, onLease));
        }
        return transactions
                .about(it.id())
                .when(Conditions.modifiedAt(key, place.modified()))
                .then(ops)
                .orElse(Op.get(key, GetOption.DEFAULT))
                .flatMap(answer -> {
                    if (answer.isSucceeded()) {
                        it.attached(answer.revision(), lease);
                        return Mono.just(held(claim, lease, start));
                    }
                    Place now = layout.placeOf(claim.id(), answer.reads().get(0));
                    if (now == null || now.created() != place.created()) {
                        boolean unused = it.lose();
                        return notHeld();
                    }
                    return retries < MOST_RETRIES
                            ? keep(claim, it, now, retries + 1)
                            : Mono.error(
                                    new IllegalStateException("other requests of this claim keep coming in between"));
                });
    }

    private Renewal held(LockClaim claim, EtcdLease lease, long start) {
        return new Renewal.Held(lease.atMost(claim.lease(), start));
    }

    private static Mono<Renewal> notHeld() {
        return Mono.just(new Renewal.NotHeld());
    }

    Mono<Renewal> adopt(LockClaim claim, long token) {
        return Mono.defer(() -> {
            Tracked it = claims.of(claim);
            it.seek(token); // a release finds the place, whatever comes of this
            return transactions
                    .read(layout.withToken(claim.key(), token))
                    .flatMap(answer -> {
                        Place found = layout.placeOf(claim.id(), answer.reads().get(0));
                        if (found == null) {
                            return notHeld();
                        }
                        // No deletion begins any more, and one that has begun ends before it looks.
                        claims.keepFor(it, claim.lease());
                        return it.afterExpiry(ifHeld(claim, found));
                    })
                    .doOnNext(answer -> {
                        if (answer instanceof Renewal.NotHeld) {
                            claims.removeIfIdle(it);
                        }
                    });
        });
    }
}
