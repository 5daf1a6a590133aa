package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.holdfast.LossReason;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.claim.LeaseState.Answered;
import io.holdfast.internal.claim.LeaseState.Certainty;
import io.holdfast.internal.claim.LeaseState.Hold;
import io.holdfast.internal.claim.LeaseState.Phase;
import io.holdfast.internal.engine.LockTerms;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Any events at any time keep the promises of a lease. */
class LeaseStateRandomTest {

    private static final int HISTORIES = 2_000 * Integer.getInteger("holdfast.cases", 1);
    private static final long MILLI = 1_000_000;

    @Test
    void noHistoryBreaksAPromise() {
        long firstSeed = new Random().nextLong();
        for (long seed = firstSeed; seed != firstSeed + HISTORIES; seed++) {
            History history = new History(new Random(seed));
            try {
                history.run();
            } catch (RuntimeException | AssertionError broken) {
                fail("seed %d: %s%n%s".formatted(seed, broken.getMessage(), history.log), broken);
            }
        }
    }

    /** One lease, with the state that the test expects. */
    private static final class History {

        private final Random random;
        private final StringBuilder log = new StringBuilder();
        private final LockTerms terms;
        private final long holdUntil;
        private LeaseState state;
        private long now;
        private long promisedUntil;
        private boolean wasInvalid;
        private boolean releaseAsked;
        private boolean inFlight;
        private long sent;
        private int ends;

        History(Random random) {
            this.random = random;
            now = random.nextBoolean() ? random.nextLong() : Long.MAX_VALUE - random.nextInt(1_000_000_000);
            long lease = lease();
            boolean isBounded = random.nextBoolean();
            holdUntil = now + 50_000 * MILLI;
            LockTerms usual = Acquiring.terms(random.nextBoolean(), isBounded ? Duration.ofSeconds(50) : null);
            terms = new LockTerms(usual.options(), 0, 0, Duration.ZERO, random.nextLong() >>> 1);
            promisedUntil = now + lease - lease / 100 - 2 * MILLI;
            Certainty certainty = random.nextBoolean() ? Certainty.CONFIRMED : Certainty.PUSHED;
            Answered answered = random.nextBoolean() ? Answered.EACH : Answered.NOT_ALL;
            state = LeaseState.of(Hold.granted(7, 1, answered, now, terms), now, lease, certainty);
            take("granted", new Step(state, Action.NONE));
        }

        void run() {
            for (int i = 0; i < 60; i++) {
                now += random.nextInt(10) == 0 ? random.nextInt(10_000) * MILLI : random.nextInt(1_000) * MILLI;
                any();
            }
        }

        private long lease() {
            return (100 + random.nextInt(30_000)) * MILLI;
        }

        private void any() {
            switch (random.nextInt(16)) {
                case 0, 1, 2, 3, 4 -> take("tick", state.tick(now));
                case 5, 6, 7 -> answered();
                case 8 -> failed();
                case 9 -> take("verify", state.unwatched(now));
                case 10 -> renewedByHand();
                case 11 -> rarely(() -> take("denied", state.renewalDenied()));
                case 12 ->
                    rarely(() -> take(
                            "lost",
                            random.nextBoolean()
                                    ? state.closed()
                                    : state.signalled(new WatchSignal.Lost(LossReason.DISCONNECTED), 1, now)));
                case 13 -> rarely(this::releaseAsked);
                case 14 -> take("answered", state.releaseAnswered(ownership(), random.nextBoolean()));
                default -> rarely(() -> take("given up", state.releaseGivenUp()));
            }
        }

        private Ownership ownership() {
            return random.nextBoolean() ? Ownership.HELD : Ownership.NOT_HELD;
        }

        private void rarely(Runnable event) {
            if (random.nextInt(4) == 0) {
                event.run();
            }
        }

        private void answered() {
            if (inFlight) {
                inFlight = false;
                renewed("renewed", sent, true);
            }
        }

        private void renewedByHand() {
            renewed("by hand", now - random.nextInt(2_000) * MILLI, false);
        }

        private void renewed(String event, long sentAt, boolean automatic) {
            long lease = lease();
            long until = sentAt + lease - lease / 100 - 2 * MILLI;
            Step step = state.renewed(sentAt, lease, automatic, now);
            if (until - promisedUntil > 0) {
                promisedUntil = until;
            }
            if (step.lease().validUntilNanos() != state.validUntilNanos()) {
                assertThat(until - step.lease().validUntilNanos())
                        .as("promised beyond the deadline")
                        .isNotNegative();
            }
            take(event, step);
        }

        private void failed() {
            if (inFlight) {
                inFlight = false;
                long before = state.validUntilNanos();
                take("failed", state.renewalFailed(true, now));
                assertThat(state.validUntilNanos()).isEqualTo(before);
            }
        }

        private void releaseAsked() {
            take("release", state.releaseAsked(now));
            releaseAsked = true;
        }

        /** Checks the invariants after every step. */
        private void take(String event, Step step) {
            LeaseState next = step.lease();
            log.append("%d %s: %s, %s%n".formatted(now, event, step.action(), next));
            if (state.phase() == Phase.LOST || state.phase() == Phase.RELEASED) {
                assertThat(next).as("after the end").isEqualTo(state);
                assertThat(step.action()).isEqualTo(Action.NONE);
            }
            if (step.action() == Action.RENEW) {
                assertThat(releaseAsked).as("renewed after the release").isFalse();
                assertThat(inFlight).as("two renewals in flight").isFalse();
                assertThat(terms.options().autoRenew() || !state.confirmed())
                        .as("renewed a confirmed lease without autoRenew")
                        .isTrue();
                inFlight = true;
                sent = now;
            }
            if (next.phase() != state.phase() && next.phase() != Phase.RELEASING) {
                assertThat(++ends).as("ends").isEqualTo(1);
            }
            assertThat(next.lossReason() != null).isEqualTo(next.phase() == Phase.LOST);
            deadlineIsBounded(next);
            staysInvalid(next);
            state = next;
        }

        private void deadlineIsBounded(LeaseState next) {
            assertThat(promisedUntil - next.validUntilNanos())
                    .as("deadline beyond any promise")
                    .isNotNegative();
            if (terms.options().maxHoldTime().isPresent()) {
                assertThat(holdUntil - next.validUntilNanos())
                        .as("deadline beyond the longest hold")
                        .isNotNegative();
            }
            if (next.phase() == Phase.HELD) {
                assertThat(next.validUntilNanos() - next.wakeAtNanos())
                        .as("tick after the deadline")
                        .isNotNegative();
            }
        }

        /** The engine ticks a lease that has ended, so that a late answer arrives at a lost lease. */
        private void staysInvalid(LeaseState next) {
            boolean valid = next.isValid(now);
            assertThat(valid && next.validUntilNanos() - now <= 0).isFalse();
            assertThat(valid && wasInvalid).as("valid again").isFalse();
            wasInvalid |= !valid || next.validUntilNanos() - now <= 0;
        }
    }
}
