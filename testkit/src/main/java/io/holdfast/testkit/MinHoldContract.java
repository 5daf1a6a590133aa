package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * A least hold time needs two promises of the back end: claims outlive their client, and a renewal can also set an
 * earlier end.
 */
interface MinHoldContract extends LockBackendUnderTest {

    private boolean keepsHoldTimes() {
        return backend().features().contains(LockFeature.MIN_HOLD);
    }

    @Needs(Need.MIN_HOLD)
    default void renewalWithAShorterLeaseLetsTheClaimEndEarlier() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            LockClaim shortened = holder.claim().withLease(lease());
            holder.mustHoldAs(shortened);
            makeExpire(shortened);
            holder.mustNotHold();
            contest.elsewhere().mustAcquire();
        }
    }

    @Needs(Need.MIN_HOLD)
    default void lockIsKeptForItsLeastHoldTimeWhenTheClientIsGone() {
        AtomicReference<LockClaim> claim = new AtomicReference<>();
        LockOptions options = LockOptions.builder()
                .minHoldTime(Contest.LONG)
                .leaseDuration(lease())
                .build();
        try (Contest contest = new Contest(this)) {
            LockClient client = LockClient.builder(noting(backend(), claim))
                    .closeBackend(false)
                    .build();
            Mono<Long> job = client.lock(contest.name()).with(options).withLock(Mono.just(1L));
            Long done = contest.answer(job.flatMap(it -> client.close().thenReturn(it)));
            assertThat(done).isEqualTo(1L);

            passTime(lease().multipliedBy(2));
            contest.elsewhere().mustBeRefused();

            assertThat(contest.answer(backend().release(claim.get()))).isEqualTo(Ownership.HELD);
            Contender next = contest.elsewhere(); // on several servers, the refused attempt may reach some of them late
            next.mustBeGrantedWithin(patience(), next.attempt());
        }
    }

    @Test
    default void leastHoldTimeIsRefusedWhereItCannotBeKept() {
        LockOptions options = LockOptions.builder().minHoldTime(lease()).build();
        LockClient client = LockClient.builder(backend()).closeBackend(false).build();
        ReactiveLock lock = client.lock("contract/min-hold");
        if (keepsHoldTimes()) {
            assertThat(lock.with(options).toString()).contains("minHoldTime=" + lease());
        } else {
            assertThatThrownBy(() -> lock.with(options))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining(backend().name())
                    .hasMessageContaining("minHoldTime");
        }
        client.close().subscribe();
    }

    private static ForwardingLockBackend noting(LockBackend backend, AtomicReference<LockClaim> last) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                last.set(claim);
                return backend.tryAcquire(claim);
            }
        };
    }

    /** A copy of the first attempt arrives after the second one. */
    @Needs(Need.MIN_HOLD)
    default void overtakenAttemptOfAHolderSetsNoNewExpiry() {
        InTime.run(lease().multipliedBy(8).dividedBy(5), this::expiryStaysAfterAnOvertakenAttempt);
    }

    private void expiryStaysAfterAnOvertakenAttempt() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder(lease());
            long token = holder.mustAcquire();
            passTime(lease().multipliedBy(3).dividedBy(5));
            assertThat(Contender.token(holder.attemptAs(1))).isEqualTo(token);
            passTime(lease().multipliedBy(3).dividedBy(5));
            contest.contender().mustAcquire();
        }
    }
}
