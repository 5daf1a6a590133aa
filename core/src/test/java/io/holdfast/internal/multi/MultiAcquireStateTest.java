package io.holdfast.internal.multi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.internal.multi.MultiAcquireAction.Deliver;
import io.holdfast.internal.multi.MultiAcquireAction.Fail;
import io.holdfast.internal.multi.MultiAcquireAction.FailLost;
import io.holdfast.internal.multi.MultiAcquireAction.FailTimedOut;
import io.holdfast.internal.multi.MultiAcquireAction.NotAvailable;
import io.holdfast.internal.multi.MultiAcquireAction.Release;
import io.holdfast.internal.multi.MultiAcquireAction.TryEach;
import io.holdfast.internal.multi.MultiAcquireAction.WaitFor;
import io.holdfast.internal.multi.MultiAcquireAction.Withdraw;
import io.holdfast.internal.multi.MultiAcquireState.Step;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MultiAcquireStateTest {

    private final Throwable broken = new IllegalStateException("broken");

    @Test
    void allAreTriedAtOneTime() {
        Step step = MultiAcquireState.start(3, true);
        assertThat(step.actions()).containsExactly(new TryEach(0b111));
        step = step.state().granted(2);
        step = step.state().granted(0);
        assertThat(step.actions()).isEmpty();
        assertThat(step.state().granted(1).actions()).containsExactly(new Deliver());
    }

    @Test
    void theFirstMissingMemberIsWaitedForAndLaterMembersAreReleased() {
        Step step = MultiAcquireState.start(4, true).state().granted(3);
        step = step.state().refused(1);
        step = step.state().granted(0);
        step = step.state().granted(2);
        assertThat(step.actions()).containsExactly(new Release(0b1100), new WaitFor(1));
        step = step.state().granted(1);
        assertThat(step.actions()).containsExactly(new TryEach(0b1100));
        step = step.state().granted(3).state().refused(2);
        assertThat(step.actions()).containsExactly(new Release(0b1000), new WaitFor(2));
    }

    @Test
    void aTryThatDoesNotWaitReleasesWhatItHasTaken() {
        Step step = MultiAcquireState.start(2, false).state().granted(0).state().refused(1);
        assertThat(step.actions()).containsExactly(new Release(0b1), new NotAvailable());
        assertThat(step.state().isOver()).isTrue();
    }

    @Test
    void aTryThatFailsEndsWithTheFirstFailure() {
        Step step = MultiAcquireState.start(3, false).state().failed(2, broken);
        step = step.state().failed(1, new IllegalStateException("later"));
        step = step.state().granted(0);
        assertThat(step.actions()).containsExactly(new Release(0b1), new Fail(broken));
    }

    @Test
    void aFailedTryBeforeAWaitIsIgnored() {
        Step step = MultiAcquireState.start(2, true)
                .state()
                .failed(0, broken)
                .state()
                .granted(1);
        assertThat(step.actions()).containsExactly(new Release(0b10), new WaitFor(0));
        assertThat(step.state().failed(0, broken).actions()).containsExactly(new Fail(broken));
    }

    @Test
    void theLossOfAMemberEndsTheAcquisition() {
        Step step = MultiAcquireState.start(3, true).state().granted(0).state().granted(1);
        step = step.state().lost(0);
        assertThat(step.actions()).containsExactly(new Withdraw(0b100), new Release(0b10), new FailLost(0));
        assertThat(step.state().granted(2).actions())
                .as("a grant that raced it")
                .containsExactly(new Release(0b100));
    }

    @Test
    void theTimeLimitEndsATryAndLeavesAWaitToItsOwnLimit() {
        Step step = MultiAcquireState.start(3, true).state().granted(0);
        assertThat(step.state().timedOut().actions())
                .containsExactly(new Withdraw(0b110), new Release(0b1), new FailTimedOut(1));
        step = step.state().refused(1).state().refused(2);
        assertThat(step.state().timedOut().actions()).as("waits for 1").isEmpty();
        assertThat(step.state().left().state().timedOut().actions()).isEmpty();
    }

    @Test
    void theLossOfAReleasedMemberIsIgnored() {
        Step step = MultiAcquireState.start(2, true).state().granted(1).state().refused(0);
        assertThat(step.state().lost(1).actions()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 65})
    void aCountOutOfRangeIsRefused(int count) {
        assertThatThrownBy(() -> MultiAcquireState.start(count, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 64 locks, not " + count);
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
        model.take(MultiAcquireState.start(count, model.waits));
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
        private MultiAcquireState state = new MultiAcquireState(1, true, 0, 0, false, true, null);
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
                return state.lost(member);
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
            List<MultiAcquireAction> actions = step.actions();
            for (MultiAcquireAction action : actions) {
                if (action instanceof TryEach all) {
                    assertThat(all.members() & (held | asked)).isZero();
                    asked |= all.members();
                } else if (action instanceof WaitFor one) {
                    assertThat(waits).isTrue();
                    assertThat(asked).isZero();
                    assertThat(held).as("all before it, and nothing else").isEqualTo((1L << one.member()) - 1);
                    asked = 1L << one.member();
                } else if (action instanceof Release all) {
                    assertThat(all.members() & ~held).isZero();
                    held &= ~all.members();
                } else if (action instanceof Withdraw all) {
                    assertThat(all.members() & ~asked).isZero();
                } else {
                    assertThat(isEnded).isFalse();
                    isDelivered = action instanceof Deliver;
                    assertThat(isDelivered ? held : 0)
                            .isEqualTo(isDelivered ? state.count() == 64 ? -1 : (1L << state.count()) - 1 : 0);
                }
            }
            isEnded = state.isOver();
        }
    }
}
