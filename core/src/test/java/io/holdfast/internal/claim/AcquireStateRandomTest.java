package io.holdfast.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.holdfast.internal.claim.AcquireState.Phase;
import io.holdfast.internal.claim.ClaimState.Action;
import io.holdfast.internal.claim.ClaimState.Step;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.LockAttempt;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Any events at any time keep the promises of an acquisition. */
class AcquireStateRandomTest {

    private static final int HISTORIES = 2_000 * Integer.getInteger("holdfast.cases", 1);
    private static final List<Mode> MODES = List.of(Mode.TRY, Mode.ONE_ATTEMPT, Mode.WAIT);

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

    /** One acquisition, with the state that the test expects. */
    private static final class History {

        private final Random random;
        private final Mode mode;
        private final StringBuilder log = new StringBuilder();
        private final Map<Integer, Long> sentAt = new HashMap<>();
        private long now;
        private AcquireState state;
        private int inFlight;
        private long restUntil;
        private boolean signalled;
        private boolean over;
        private boolean delivered;
        private boolean nothingLeft;
        private int withdrawals;

        History(Random random) {
            this.random = random;
            mode = MODES.get(random.nextInt(3));
            // Some histories cross the point where nanoTime wraps.
            now = random.nextBoolean() ? random.nextLong() : Long.MAX_VALUE - random.nextInt(1_000_000_000);
            take("start", Acquiring.start(Acquiring.plan(mode, random.nextBoolean()), random.nextBoolean(), now));
        }

        void run() {
            for (int i = 0; i < 60; i++) {
                now += Acquiring.millis(random.nextInt(random.nextInt(10) == 0 ? 20_000 : 100));
                any();
            }
            if (!over) {
                end(random.nextInt(3));
            }
            if (inFlight != 0) {
                answer();
            }
            assertThat(state.phase()).isEqualTo(Phase.ENDED);
            boolean mayHaveLeftSomething = !delivered && !nothingLeft;
            assertThat(withdrawals).as("withdrawals").isEqualTo(mayHaveLeftSomething ? 1 : 0);
        }

        private void any() {
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> answer();
                case 3 -> stale();
                case 4 -> signal("changed", state.signalled(Acquiring.CHANGED, Acquiring.ALL_SENT, now));
                case 5 -> signal("armed", state.signalled(Acquiring.ARMED, Acquiring.ALL_SENT, now));
                case 6 -> signal("disarmed", state.unwatched(now));
                case 7 -> granted();
                case 8, 9 -> pauseOver();
                case 10 -> signal("lost", state.signalled(Acquiring.LOST, Acquiring.ALL_SENT, now));
                default -> {
                    if (random.nextInt(4) == 0) {
                        end(random.nextInt(3));
                    }
                }
            }
        }

        private void answer() {
            if (inFlight == 0) {
                return;
            }
            int number = inFlight;
            boolean again = signalled && !over && mode == Mode.WAIT;
            inFlight = 0;
            restUntil = now + (now - sentAt.get(number));
            if (random.nextInt(3) == 0) {
                boolean isTransient = random.nextInt(4) != 0;
                take("failed", state.attemptFailed(number, Acquiring.failure(isTransient), now, random.nextDouble()));
                return;
            }
            LockAttempt answer = randomAnswer();
            nothingLeft = mode != Mode.WAIT && answer instanceof LockAttempt.Contended;
            Step step = state.answered(number, answer, now, random.nextDouble());
            if (again && !(answer instanceof LockAttempt.Acquired)) {
                attemptsOrRests("a signal came during the attempt", step);
            }
            take(answer.toString(), step);
        }

        private LockAttempt randomAnswer() {
            return switch (random.nextInt(mode == Mode.WAIT ? 6 : 2)) {
                case 0 -> Acquiring.acquired();
                case 1 -> Acquiring.contended(random.nextInt(1_000));
                default -> Acquiring.queued(random.nextInt(10_000));
            };
        }

        private void stale() {
            int number = random.nextInt(state.attempt() + 3);
            if (number == inFlight) {
                return;
            }
            Step step = random.nextBoolean()
                    ? state.answered(number, randomAnswer(), now, random.nextDouble())
                    : state.attemptFailed(number, Acquiring.failure(random.nextBoolean()), now, random.nextDouble());
            assertThat(step.state()).as("a stale answer changes nothing").isSameAs(state);
            take("stale " + number, step);
        }

        private void signal(String event, Step step) {
            if (inFlight != 0) {
                signalled = true;
            } else if (!over) {
                attemptsOrRests("a signal in a pause", step);
            }
            take(event, step);
        }

        /** The acquisition rests no longer than the last answer took. */
        private void attemptsOrRests(String why, Step step) {
            if (step.acquiring().phase() == Phase.PAUSING) {
                assertThat(restUntil - step.state().wakeAtNanos()).as(why).isNotNegative();
            } else {
                assertThat(step.action()).as(why).isEqualTo(Action.ATTEMPT);
            }
        }

        private void granted() {
            int number = Math.max(1, state.attempt() - random.nextInt(3) + random.nextInt(2));
            Step step =
                    state.signalled(Acquiring.granted(number, 100 + random.nextInt(20_000)), Acquiring.ALL_SENT, now);
            if (step.action() == Action.DELIVER) {
                assertThat(step.lease().sentAtNanos())
                        .as("send time of attempt %d", number)
                        .isEqualTo(sentAt.get(number));
            } else if (inFlight != 0) {
                signalled = true;
            }
            take("granted " + number, step);
        }

        private void pauseOver() {
            Phase before = state.phase();
            Step step = state.pauseOver(now);
            assertThat(step.action() == Action.ATTEMPT).isEqualTo(before == Phase.PAUSING);
            take("pause over", step);
        }

        private void end(int how) {
            Step step = switch (how) {
                case 0 -> state.timedOut();
                case 1 -> state.closed();
                default -> state.left();
            };
            take(how == 0 ? "timed out" : how == 1 ? "closed" : "left", step);
            over = true;
        }

        /** Checks the invariants after every step. */
        private void take(String event, Step step) {
            Action action = step.action();
            log.append("%d %s: %s%n".formatted(now, event, Acquiring.action(step)));
            if (action == Action.DELIVER) {
                assertThat(over).as("delivered after the end").isFalse();
                assertThat(step.lease().validUntilNanos() - now)
                        .as("left of the lease")
                        .isPositive();
                assertThat(sentAt).containsValue(step.lease().sentAtNanos());
                delivered = true;
                over = true;
                state = state.broken().acquiring(); // the acquisition has ended
                return;
            }
            AcquireState next = step.acquiring();
            if (action == Action.ATTEMPT) {
                assertThat(inFlight).as("attempts in flight").isZero();
                assertThat(over).as("attempts after the end").isFalse();
                assertThat(next.attempt()).isEqualTo(sentAt.size() + 1);
                sentAt.put(next.attempt(), now);
                inFlight = next.attempt();
                signalled = false;
                nothingLeft = false;
            } else if (action != Action.NONE || step.withdraws()) {
                assertThat(over && action != Action.NONE).as("signalled twice").isFalse();
                over = true;
            } else if (next.phase() == Phase.PAUSING && !next.equals(state)) {
                assertThat(next.wakeAtNanos() - now).isBetween(0L, Acquiring.millis(Acquiring.LEASE_MILLIS));
                assertThat(mode == Mode.WAIT || event.startsWith("Acquired") || state.phase() == Phase.PAUSING)
                        .as("waits, or was granted a lease that was over")
                        .isTrue();
            }
            if (step.withdraws()) {
                withdrawals++;
                assertThat(inFlight).as("attempts in flight at the withdrawal").isZero();
            }
            state = next;
        }
    }
}
