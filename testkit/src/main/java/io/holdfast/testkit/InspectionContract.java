package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.LossReason;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Waiting;
import java.util.concurrent.CompletableFuture;

/** An operator inspects the locks of a back end, and breaks a hold. */
interface InspectionContract extends LockBackendUnderTest {

    private LockInspector neededInspector() {
        return requireNonNull(inspector());
    }

    private LockReport report(Contest contest, LockReport.Type type) {
        return contest.answer(neededInspector()
                .inspect(contest.name())
                .filter(it -> it.type() == type)
                .single());
    }

    private LockHolder holder(Contest contest, Contender contender) {
        return report(contest, LockReport.Type.of(contender.claim().key().kind())).holders().stream()
                .filter(it -> it.claimId().equals(contender.claim().id()))
                .findAny()
                .orElseThrow();
    }

    @Needs(Need.INSPECTOR)
    default void reportHasTheHolderAndTheQueue() {
        LockInspector inspector = neededInspector();
        try (Contest contest = new Contest(this)) {
            assertThat(contest.answer(inspector.inspect(contest.name()).collectList()))
                    .filteredOn(LockReport::isHeld)
                    .isEmpty();
            Contender holder = contest.contender();
            long token = holder.mustAcquire();
            Contender waiter = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
            Object unused = waiter.attempt();

            LockReport report = report(contest, LockReport.Type.MUTEX);
            assertThat(report.name()).isEqualTo(contest.name());
            assertThat(report.holderCount()).isOne();
            assertThat(report.holders()).singleElement().satisfies(it -> {
                assertThat(it.claimId()).isEqualTo(holder.claim().id());
                assertThat(it.owner()).isEqualTo(holder.claim().owner()).isNotEmpty();
                assertThat(it.kind()).isEqualTo(LockKind.MUTEX);
                assertThat(it.fencingToken()).isEqualTo(token);
            });
            if (backend().features().contains(LockFeature.FIFO)) {
                assertThat(report.waiterCount()).isOne();
                assertThat(report.waiters())
                        .extracting(LockWaiter::owner)
                        .containsExactly(waiter.claim().owner());
            }
            assertThat(contest.answer(inspector.all().collectList()))
                    .filteredOn(it -> it.name().equals(contest.name()))
                    .singleElement()
                    .satisfies(it -> assertThat(it.isHeld()).isTrue());
            holder.mustHold();
        }
    }

    @Needs(Need.INSPECTOR)
    default void brokenHoldGoesToTheNextWaiterWithAHigherToken() {
        LockInspector inspector = neededInspector();
        try (Contest contest = new Contest(this)) {
            Contender broken = contest.contender();
            long token = broken.mustAcquire();
            LockHolder seen = holder(contest, broken);
            Contender next = contest.exclusive(Contest.LONG, Waiting.QUEUE).watching();
            Object unused = next.attempt();

            assertThat(contest.answer(inspector.breakHold(contest.name(), seen)))
                    .isTrue();

            assertThat(next.mustBeGranted()).isGreaterThan(token);
            broken.mustNotHold();
            assertThat(contest.answer(inspector.breakHold(contest.name(), seen)))
                    .as("again")
                    .isFalse();
            next.mustHold();
        }
    }

    @Needs({Need.INSPECTOR, Need.READ_WRITE})
    default void oneShareIsBrokenAlone() {
        LockInspector inspector = neededInspector();
        try (Contest contest = new Contest(this)) {
            Contender broken = contest.of(LockKind.READ, Waiting.NONE);
            Contender other = contest.of(LockKind.READ, Waiting.NONE);
            broken.mustAcquire();
            other.mustAcquire();

            assertThat(contest.answer(inspector.breakHold(contest.name(), holder(contest, broken))))
                    .isTrue();

            broken.mustNotHold();
            other.mustHold();
            assertThat(report(contest, LockReport.Type.READ_WRITE).holders())
                    .extracting(LockHolder::claimId)
                    .containsExactly(other.claim().id());
        }
    }

    /** An application sees the loss: its client has the default renewals. */
    @Needs(Need.INSPECTOR)
    default void brokenHoldIsALossForItsHolder() {
        LockInspector inspector = neededInspector();
        String label = "orders:host-7:4711";
        LockOptions options = LockOptions.builder().leaseDuration(lease()).build();
        try (Contest contest = new Contest(this)) {
            LockClient client = LockClient.builder(backend())
                    .options(options)
                    .owner(label)
                    .closeBackend(false)
                    .build();
            LockLease lease = contest.answer(client.lock(contest.name()).acquire());
            contest.losesALock();
            CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
            LockHolder seen = report(contest, LockReport.Type.MUTEX).holders().get(0);
            assertThat(seen.owner()).isEqualTo(label);

            assertThat(contest.answer(inspector.breakHold(contest.name(), seen)))
                    .isTrue();

            assertThat(loss).succeedsWithin(patience()).isEqualTo(LossReason.NOT_HELD);
            assertThat(lease.isValid()).isFalse();
            assertThat(client.close().toFuture()).succeedsWithin(patience());
        }
    }

    @Needs(Need.INSPECTOR)
    default void lateAttemptOfABrokenClaimTakesNothing() {
        try (Contest contest = new Contest(this)) {
            Contender broken = contest.contender();
            broken.mustAcquire();
            LockHolder seen = holder(contest, broken);
            assertThat(contest.answer(neededInspector().breakHold(contest.name(), seen)))
                    .isTrue();
            assertThat(contest.answer(broken.attempting()
                            .map(LockAttempt.Acquired.class::isInstance)
                            .onErrorReturn(LockBackendException.class, false)))
                    .isFalse();
            contest.contender().mustAcquire();
        }
    }
}
