package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** One client hands a lease on to another: the server sees one claim, without a gap. */
interface HandOnContract extends LockBackendUnderTest {

    private boolean handsOn() {
        return backend().features().contains(LockFeature.HAND_ON);
    }

    private static LockLease held(ManyLocksContract.Clients clients, LockClient client) {
        return clients.answer(client.lock(clients.name()).acquire());
    }

    @Test
    default void leaseGoesOnInTheClientThatAdoptsIt() {
        ManyLocksContract.withClients(this, clients -> {
            LockLease lease = held(clients, clients.one());
            if (!handsOn()) {
                assertThatThrownBy(() -> clients.answer(lease.export()))
                        .hasCauseInstanceOf(UnsupportedOperationException.class);
                assertThat(clients.answer(lease.release().thenReturn(true))).isTrue();
                return;
            }
            String text = clients.answer(lease.export());
            Mono<Boolean> isFree =
                    clients.one().lock(clients.name()).tryAcquire().hasElement();
            assertThat(lease.isValid()).isFalse();
            assertThat(clients.answer(isFree)).isFalse();

            LockLease adopted = clients.answer(clients.other().adopt(text));
            assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken());
            assertThat(clients.answer(isFree)).isFalse();
            assertThat(clients.answer(adopted.renew().thenReturn(true))).isTrue();
            assertThat(clients.answer(adopted.release().thenReturn(true))).isTrue();

            LockLease next = held(clients, clients.one());
            assertThat(next.fencingToken()).isGreaterThan(adopted.fencingToken());
            assertThat(clients.answer(next.release().thenReturn(true))).isTrue();
            assertThatThrownBy(() -> clients.answer(clients.other().adopt(text)))
                    .hasCauseInstanceOf(LockLostException.class);
        });
    }

    @Needs(Need.HAND_ON)
    default void claimOfEachKindIsAdoptedWithItsTokenOnly() {
        for (LockKind kind : LockKind.values()) {
            try (Contest contest = new Contest(this)) {
                Contender exporter = contest.of(kind, Waiting.NONE);
                assertThat(exporter.adopt(1)).as("%s, never held", kind).isEqualTo(new Renewal.NotHeld());
                long token = exporter.mustAcquire();
                assertThat(exporter.adopt(token - 4))
                        .as("%s, lower token", kind)
                        .isEqualTo(new Renewal.NotHeld());
                assertThat(exporter.adopt(token + 4))
                        .as("%s, higher token", kind)
                        .isEqualTo(new Renewal.NotHeld());
                assertThat(exporter.adopt(token)).as("%s", kind).isInstanceOf(Renewal.Held.class);
                exporter.mustHold();
                exporter.release();
                assertThat(exporter.adopt(token)).as("%s, released", kind).isEqualTo(new Renewal.NotHeld());
            }
        }
    }

    @Needs(Need.HAND_ON)
    default void adoptionSetsANewExpiryAndItsRefusalDoesNot() {
        try (Contest contest = new Contest(this)) {
            List<Contender> refused = ofEachKind(contest);
            refused.forEach(it -> {
                long token = it.mustAcquire();
                LockClaim longer = it.claim().withLease(Contest.LONG);
                assertThat(contest.answer(backend().adopt(longer, token + 4))).isEqualTo(new Renewal.NotHeld());
            });
            makeExpire(refused);
            refused.forEach(Contender::mustNotHold);

            List<Contender> adopted = ofEachKind(contest);
            adopted.forEach(it -> {
                long token = it.mustAcquire();
                assertThat(contest.answer(backend().adopt(it.claim().withLease(Contest.LONG), token)))
                        .isInstanceOf(Renewal.Held.class);
            });
            makeExpire(adopted);
            adopted.forEach(it -> it.mustHoldAs(it.claim().withLease(Contest.LONG)));
        }
    }

    /** Otherwise the adopter would write with a token that is lower than that of the owner in between. */
    @Needs(Need.HAND_ON)
    default void holdThatALateAttemptOfTheExporterHasTakenIsNotAdoptedWithTheFormerToken() {
        try (Contest contest = new Contest(this)) {
            List<Contender> exporters = ofEachKind(contest);
            List<Long> tokens = exporters.stream().map(Contender::mustAcquire).toList();
            makeExpire(exporters);
            for (int i = 0; i < exporters.size(); i++) {
                Contender exporter = exporters.get(i);
                long token = tokens.get(i);
                LockKey key = exporter.claim().key();
                Contender between = contest.enter(backend(), key, Contest.LONG, Waiting.NONE);
                assertThat(between.mustAcquire()).as("%s", key.kind()).isGreaterThan(token);
                between.release();
                long late = Contender.token(exporter.attempt());
                assertThat(late).as("%s", key.kind()).isGreaterThan(token);
                assertThat(exporter.adopt(token)).as("%s", key.kind()).isEqualTo(new Renewal.NotHeld());
                assertThat(exporter.adopt(late)).as("%s", key.kind()).isInstanceOf(Renewal.Held.class);
            }
        }
    }

    /** The adopter does not know of an attempt of the exporter that was never answered, and so may arrive at any time. */
    @Needs(Need.HAND_ON)
    default void lateAttemptOfTheExporterTakesNothingAfterTheReleaseOfTheAdopter() {
        for (LockKind kind : LockKind.values()) {
            try (Contest contest = new Contest(this)) {
                LockClaim first = brief(contest, kind).claim();
                long token = Contender.token(contest.answer(backend().tryAcquire(first.withAttempt(2))));
                LockClaim exported = first.withAttempt(3);
                assertThat(contest.answer(anotherClient().adopt(exported, token)))
                        .isInstanceOf(Renewal.Held.class);
                assertThat(contest.answer(anotherClient().release(exported))).isEqualTo(Ownership.HELD);
                assertThat(contest.answer(backend().tryAcquire(first)))
                        .as("%s", kind)
                        .isInstanceOf(LockAttempt.Contended.class);
            }
        }
    }

    /** The client that gave up the adoption releases the claim, whether or not it has adopted it. */
    @Needs(Need.HAND_ON)
    default void claimWhoseAdoptionHadNoAnswerIsReleased() {
        for (LockKind kind : LockKind.values()) {
            try (Contest contest = new Contest(this)) {
                LockClaim first = brief(contest, kind).claim();
                long token = Contender.token(contest.answer(backend().tryAcquire(first)));
                LockClaim exported = first.withAttempt(2);
                anotherClient().adopt(exported, token).subscribe().dispose();
                assertThat(contest.answer(anotherClient().release(exported)))
                        .as("%s", kind)
                        .isEqualTo(Ownership.HELD);
                assertThat(contest.of(kind, Waiting.NONE).mustAcquire()).isGreaterThan(token);
            }
            try (Contest contest = new Contest(this)) {
                LockClaim late = brief(contest, kind).claim();
                anotherClient().adopt(late.withAttempt(2), 1).subscribe().dispose();
                assertThat(contest.answer(anotherClient().release(late.withAttempt(2))))
                        .as("%s, never held", kind)
                        .isEqualTo(Ownership.NOT_HELD);
                assertThat(contest.answer(backend().tryAcquire(late)))
                        .as("%s, late", kind)
                        .isInstanceOf(LockAttempt.Contended.class);
            }
        }
    }

    @Needs({Need.HAND_ON, Need.DOWNGRADE})
    default void formerWriterIsAdoptedAsAReaderWithItsToken() {
        try (Contest contest = new Contest(this)) {
            Contender writer = contest.of(LockKind.WRITE, Waiting.NONE);
            long token = writer.mustAcquire();
            writer.attemptAs(LockKind.READ);
            assertThat(writer.adopt(token + 4)).isEqualTo(new Renewal.NotHeld());
            assertThat(writer.adopt(token)).isInstanceOf(Renewal.Held.class);
        }
    }

    private Contender brief(Contest contest, LockKind kind) {
        return contest.enter(backend(), LockKey.of(kind, contest.name()), lease(), Waiting.NONE);
    }

    /** Returns brief claims of all kinds, each of a lock of its own. */
    private List<Contender> ofEachKind(Contest contest) {
        return Stream.of(LockKind.values())
                .map(kind -> LockKey.of(kind, contest.name() + "/" + kind))
                .map(key -> contest.enter(backend(), key, lease(), Waiting.NONE))
                .toList();
    }

    /** Ends held claims at the same time: a back end with a real clock waits for each of them. */
    private void makeExpire(List<Contender> held) {
        List<CompletableFuture<Void>> ends = held.stream()
                .map(it -> CompletableFuture.runAsync(() -> makeExpire(it.claim()), end -> new Thread(end).start()))
                .toList();
        ends.forEach(CompletableFuture::join);
    }
}
