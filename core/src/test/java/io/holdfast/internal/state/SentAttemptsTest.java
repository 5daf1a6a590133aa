package io.holdfast.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SentAttemptsTest {

    @Test
    void itKnowsTheAttemptThatWasAnsweredLastAndAllAfterIt() {
        SentAttempts looks =
                SentAttempts.first(10).plus(20).plus(30).answered(2).plus(40);

        assertThat(looks.knows(1)).isFalse();
        assertThat(looks.sentAt(2)).isEqualTo(20);
        assertThat(looks.sentAt(3)).isEqualTo(30);
        assertThat(looks.sentAt(4)).isEqualTo(40);
        assertThat(looks.knows(5)).isFalse();
    }

    @Test
    void itForgetsTheOldestOfManyThatWereNotAnswered() {
        SentAttempts looks = SentAttempts.first(1);
        for (int attempt = 2; attempt <= 1_000; attempt++) {
            looks = looks.plus(attempt);
        }

        assertThat(looks.knows(984)).isFalse();
        for (int attempt = 985; attempt <= 1_000; attempt++) {
            assertThat(looks.knows(attempt)).isTrue();
            assertThat(looks.sentAt(attempt)).isEqualTo(attempt);
        }
    }

    @Test
    void anAnswerToAForgottenAttemptForgetsNothingMore() {
        SentAttempts looks = SentAttempts.first(10).plus(20).answered(2);

        assertThat(looks.answered(1).sentAt(2)).isEqualTo(20);
    }

    @Test
    void itIsImmutable() {
        SentAttempts one = SentAttempts.first(10);
        SentAttempts two = one.plus(20);

        assertThat(two.answered(2).knows(1)).isFalse();
        assertThat(two.knows(1)).isTrue();
        assertThat(one.knows(2)).isFalse();
    }
}
