package io.holdfast.internal.timing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SentAttemptsTest {

    @Test
    void itKnowsTheAttemptThatWasAnsweredLastAndAllAfterIt() {
        SentAttempts sent =
                SentAttempts.NONE.plus(10).plus(20).plus(30).answered(2).plus(40);

        assertThat(sent.knows(1)).isFalse();
        assertThat(sent.sentAt(2)).isEqualTo(20);
        assertThat(sent.sentAt(3)).isEqualTo(30);
        assertThat(sent.sentAt(4)).isEqualTo(40);
        assertThat(sent.knows(5)).isFalse();
    }

    @Test
    void itForgetsTheOldestOfManyUnansweredAttempts() {
        SentAttempts sent = SentAttempts.NONE.plus(1);
        for (int attempt = 2; attempt <= 1_000; attempt++) {
            sent = sent.plus(attempt);
        }

        assertThat(sent.knows(984)).isFalse();
        for (int attempt = 985; attempt <= 1_000; attempt++) {
            assertThat(sent.knows(attempt)).isTrue();
            assertThat(sent.sentAt(attempt)).isEqualTo(attempt);
        }
    }

    @Test
    void anAnswerToAForgottenAttemptForgetsNothingMore() {
        SentAttempts sent = SentAttempts.NONE.plus(10).plus(20).answered(2);

        assertThat(sent.answered(1).sentAt(2)).isEqualTo(20);
    }

    @Test
    void itIsImmutable() {
        SentAttempts one = SentAttempts.NONE.plus(10);
        SentAttempts two = one.plus(20);

        assertThat(two.answered(2).knows(1)).isFalse();
        assertThat(two.knows(1)).isTrue();
        assertThat(one.knows(2)).isFalse();
    }
}
