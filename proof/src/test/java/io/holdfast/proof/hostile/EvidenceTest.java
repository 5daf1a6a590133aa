package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import io.holdfast.testkit.history.LockOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EvidenceTest {

    private static final LockKey LOCK = LockKey.of(LockKind.MUTEX, "lock");
    private static final Duration LEASE = Duration.ofNanos(1_000);
    private static final long FOR_EVER = Long.MAX_VALUE;

    private final HistoryRecorder one = HistoryRecorder.inMemory("one");
    private final HistoryRecorder other = HistoryRecorder.inMemory("other");

    private Evidence evidence(Standstill... standstills) {
        List<HistoryEvent> events = new ArrayList<>(one.events());
        events.addAll(other.events());
        return new Evidence(events, List.of(standstills));
    }

    private static void holds(HistoryRecorder who, long from, long token, long until) {
        who.acquired(from, who.asked(from - 1, LOCK), token, until);
    }

    private static Terms terms(Target target) {
        return Terms.of(target).with(LEASE);
    }

    private static int violations(Evidence evidence, Gap... gaps) {
        return new Verdict(evidence, List.of(gaps), terms(Target.REDIS))
                .violations(List.of())
                .size();
    }

    @Test
    void overlappingLeasesAreFound() {
        holds(one, 100, 1, 1_000);
        holds(other, 900, 2, 1_800);
        assertThat(violations(evidence())).isEqualTo(1);
    }

    @Test
    void aKilledProcessHasNoLease() {
        holds(one, 100, 1, 1_000);
        holds(other, 900, 2, 1_800);
        assertThat(violations(evidence(new Standstill("one", 800, FOR_EVER)))).isZero();
    }

    @Test
    void aProcessHasItsLeaseUntilItIsKilled() {
        holds(one, 100, 1, 1_000);
        holds(other, 900, 2, 1_800);
        assertThat(violations(evidence(new Standstill("one", 901, FOR_EVER)))).isEqualTo(1);
    }

    @Test
    void aFrozenProcessKeepsItsLease() {
        holds(one, 100, 1, 1_000);
        holds(other, 900, 2, 1_800);
        assertThat(violations(evidence(new Standstill("one", 800, 5_000)))).isEqualTo(1);
    }

    @Test
    void aLeaseFromBeforeAGapExcludesNoClaimAfterIt() {
        holds(one, 100, 1, 1_000);
        holds(other, 900, 2, 1_800);
        assertThat(violations(evidence(), new Gap(500, 600))).isZero();
    }

    @Test
    void aLeaseFromBeforeAGapExcludesOthersUntilTheGap() {
        holds(one, 100, 1, 1_000);
        holds(other, 400, 2, 1_300);
        assertThat(violations(evidence(), new Gap(500, 600))).isEqualTo(1);
    }

    @Test
    void aLeaseRequestedAfterAGapExcludesOthers() {
        holds(one, 700, 1, 1_650);
        holds(other, 900, 2, 1_850);
        assertThat(violations(evidence(), new Gap(500, 600))).isEqualTo(1);
    }

    @Test
    void aLeaseEmittedAfterAGapButPerhapsOlderIsLeftOut() {
        holds(one, 650, 1, 1_590);
        holds(other, 900, 2, 1_850);
        assertThat(violations(evidence(), new Gap(500, 600))).isZero();
        assertThat(evidence().all().operations()).allMatch(LockOperation::hasAcquired);
    }

    private int tokenViolations(Target target) {
        return new Verdict(evidence(), List.of(), terms(target))
                .violations(List.of())
                .size();
    }

    private static void reads(HistoryRecorder who, long asked, long from, long token, long until) {
        who.acquired(from, who.asked(asked, LockKey.of(LockKind.READ, "shared")), token, until);
    }

    @Test
    void onlySimultaneousReadersOfARedlockMayShareAToken() {
        reads(one, 90, 100, 5, 400);
        reads(other, 95, 110, 5, 400);
        assertThat(tokenViolations(Target.REDLOCK)).isZero();
        assertThat(tokenViolations(Target.REDIS)).isEqualTo(1);
    }

    @Test
    void successiveReadersOfARedlockHaveDifferentTokens() {
        reads(one, 90, 100, 5, 400);
        reads(other, 105, 110, 5, 400);
        assertThat(tokenViolations(Target.REDLOCK)).isEqualTo(1);
    }

    @Test
    void tokensMustRiseAcrossAGap() {
        holds(one, 100, 5, 400);
        holds(other, 900, 4, 1_850);
        assertThat(violations(evidence(), new Gap(500, 600))).isEqualTo(1);
    }
}
