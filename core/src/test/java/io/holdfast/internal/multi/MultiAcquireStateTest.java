package io.holdfast.internal.multi;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.internal.multi.MultiAcquireState.Signal;
import io.holdfast.internal.multi.MultiAcquireState.Step;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class MultiAcquireStateTest {

    private final Throwable broken = new IllegalStateException("broken");

    @Test
    void allAreTriedAtOneTime() {
        Step step = MultiAcquireState.of(3, true).start();
        assertThat(actions(step)).containsExactly("try 0 1 2");
        step = step.state().granted(2);
        step = step.state().granted(0);
        assertThat(actions(step)).isEmpty();
        assertThat(actions(step.state().granted(1))).containsExactly("LEASES");
    }

    @Test
    void theFirstMissingMemberIsWaitedForAndLaterMembersAreReleased() {
        Step step = MultiAcquireState.of(4, true).start().state().granted(3);
        step = step.state().refused(1);
        step = step.state().granted(0);
        step = step.state().granted(2);
        assertThat(actions(step)).containsExactly("release 2 3", "wait 1");
        step = step.state().granted(1);
        assertThat(actions(step)).containsExactly("try 2 3");
        step = step.state().granted(3).state().refused(2);
        assertThat(actions(step)).containsExactly("release 3", "wait 2");
    }

    @Test
    void aTryThatDoesNotWaitReleasesWhatItHasTaken() {
        Step step = MultiAcquireState.of(2, false)
                .start()
                .state()
                .granted(0)
                .state()
                .refused(1);
        assertThat(actions(step)).containsExactly("release 0", "EMPTY");
        assertThat(step.state().isOver()).isTrue();
    }

    @Test
    void aTryThatFailsEndsWithTheFirstFailure() {
        Step step = MultiAcquireState.of(3, false).start().state().failed(2, broken);
        step = step.state().failed(1, new IllegalStateException("later"));
        step = step.state().granted(0);
        assertThat(actions(step)).containsExactly("release 0", "ERROR broken");
    }

    @Test
    void aFailedTryBeforeAWaitIsIgnored() {
        Step step = MultiAcquireState.of(2, true)
                .start()
                .state()
                .failed(0, broken)
                .state()
                .granted(1);
        assertThat(actions(step)).containsExactly("release 1", "wait 0");
        assertThat(actions(step.state().failed(0, broken))).containsExactly("ERROR broken");
    }

    @Test
    void theLossOfAMemberEndsTheAcquisition() {
        Step step =
                MultiAcquireState.of(3, true).start().state().granted(0).state().granted(1);
        step = step.state().lost(0, broken);
        assertThat(actions(step)).containsExactly("withdraw 2", "release 1", "ERROR broken");
        assertThat(actions(step.state().granted(2))).as("a grant that raced it").containsExactly("release 2");
    }

    @Test
    void theTimeLimitEndsATryAndLeavesAWaitToItsOwnLimit() {
        Step step = MultiAcquireState.of(3, true).start().state().granted(0);
        assertThat(actions(step.state().timedOut(this::timedOut)))
                .containsExactly("withdraw 1 2", "release 0", "ERROR of 1");
        step = step.state().refused(1).state().refused(2);
        assertThat(actions(step.state().timedOut(this::timedOut)))
                .as("waits for 1")
                .isEmpty();
        assertThat(actions(step.state().left().state().timedOut(this::timedOut)))
                .isEmpty();
    }

    private Throwable timedOut(int member) {
        return new IllegalStateException("of " + member);
    }

    @Test
    void theLossOfAReleasedMemberIsIgnored() {
        Step step =
                MultiAcquireState.of(2, true).start().state().granted(1).state().refused(0);
        assertThat(actions(step.state().lost(1, broken))).isEmpty();
    }

    /** Describes the actions of a decision. */
    private static List<String> actions(Step step) {
        String ask = step.state().isWaiting() ? "wait" : "try";
        String signal = step.signal() == Signal.ERROR
                ? "ERROR " + requireNonNull(step.state().failure()).getMessage()
                : step.signal().name();
        return Stream.of(
                        "withdraw" + members(step.withdraw()),
                        "release" + members(step.release()),
                        ask + members(step.ask()),
                        signal)
                .filter(action -> action.contains(" ") || (action.equals(signal) && step.signal() != Signal.NONE))
                .toList();
    }

    private static String members(long set) {
        return IntStream.range(0, Long.SIZE)
                .filter(at -> (set >>> at & 1) == 1)
                .mapToObj(at -> " " + at)
                .collect(Collectors.joining());
    }

    /**
     * Random answers, losses and cancellations: the acquisition waits in order, requests only members that it does not
     * hold, and keeps none at its end.
     */
    @RepeatedTest(500)
    void membersAreKeptInTheCanonicalOrder(RepetitionInfo repetition) {
        Random random = new Random(repetition.getCurrentRepetition());
        int count = 1 + random.nextInt(random.nextInt(10) == 0 ? 64 : 6);
        Model model = new Model(random.nextBoolean());
        model.take(MultiAcquireState.of(count, model.waits).start());
        for (int event = 0; !model.isEnded && event < 10_000; event++) {
            model.take(model.chance(random));
        }
        assertThat(model.isEnded).isTrue();
        while (model.asked != 0) { // answers that were on their way
            int member = Long.numberOfTrailingZeros(model.asked);
            model.asked &= model.asked - 1;
            model.held |= 1L << member;
            model.take(model.state.granted(member));
        }
        assertThat(model.isDelivered ? 0 : model.held).isZero();
    }

    /** The acquisitions and leases of the members, according to the actions. */
    private final class Model {

        private final boolean waits;
        private MultiAcquireState state = MultiAcquireState.of(1, true);
        private long held;
        private long asked;
        private boolean isEnded;
        private boolean isDelivered;

        Model(boolean waits) {
            this.waits = waits;
        }

        Step chance(Random random) {
            int what = random.nextInt(100);
            if (what == 0) {
                return state.left();
            }
            if (what == 1 && held != 0) {
                int member = Long.numberOfTrailingZeros(held);
                held &= held - 1;
                return state.lost(member, broken);
            }
            int member = asked(random);
            asked &= ~(1L << member);
            if (what < 5) {
                return state.failed(member, broken);
            }
            if (what < 40 && !state.isWaiting()) {
                return state.refused(member);
            }
            held |= 1L << member;
            return state.granted(member);
        }

        private int asked(Random random) {
            int[] members = IntStream.range(0, Long.SIZE)
                    .filter(at -> (asked >>> at & 1) == 1)
                    .toArray();
            return members[random.nextInt(members.length)];
        }

        void take(Step step) {
            state = step.state();
            assertThat(step.withdraw() & ~asked).isZero();
            assertThat(step.release() & ~held).isZero();
            held &= ~step.release();
            assertThat(step.ask() & (held | asked)).isZero();
            if (step.ask() != 0 && state.isWaiting()) {
                assertThat(waits).isTrue();
                assertThat(asked).isZero();
                assertThat(held).as("all before it, and nothing else").isEqualTo(step.ask() - 1);
            }
            asked |= step.ask();
            if (step.signal() != Signal.NONE) {
                assertThat(isEnded).isFalse();
                isDelivered = step.signal() == Signal.LEASES;
                assertThat(isDelivered ? held : 0)
                        .isEqualTo(isDelivered ? state.count() == 64 ? -1 : (1L << state.count()) - 1 : 0);
            }
            isEnded = state.isOver();
        }
    }
}
