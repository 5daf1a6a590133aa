package io.holdfast.redlock.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.support.Mailbox;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoundQueueTest {

    private final Mailbox mailbox = ClaimState.newMailbox();
    private final RoundQueue rounds = new RoundQueue(mailbox);
    private final List<Integer> begun = new ArrayList<>();

    @Test
    void aRoundBeginsWhenTheOneBeforeItIsOver() {
        rounds.enter(() -> begun.add(1));
        rounds.enter(() -> begun.add(2));
        rounds.enter(() -> begun.add(3));
        assertThat(begun).containsExactly(1);

        rounds.exit();
        assertThat(begun).containsExactly(1, 2);

        rounds.exit();
        rounds.exit();
        rounds.enter(() -> begun.add(4));
        assertThat(begun).containsExactly(1, 2, 3, 4);
    }

    /** The subscribers of many attempts may leave while they wait. */
    @Test
    void manyRoundsThatAreOverAtOnceNeedNoDeepStack() {
        rounds.enter(() -> begun.add(-1));
        IntStream.range(0, 100_000)
                .forEach(number -> rounds.enter(() -> {
                    begun.add(number);
                    rounds.exit();
                }));

        rounds.exit();

        assertThat(begun).hasSize(100_001).isSorted();
    }
}
