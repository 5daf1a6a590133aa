package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message names the lock, and says what was tried, how long, and what to do. */
class LockExceptionTest {

    @Test
    void aTimeoutNamesTheWaitAndTheAttempts() {
        LockTimeoutException error = new LockTimeoutException("stock/42", Duration.ofMillis(1_500), 3, true, null);

        assertThat(error)
                .hasMessageContainingAll("'stock/42'", "1500 ms", "3 attempts", "wait longer")
                .hasNoCause();
        assertThat(error.lockName()).isEqualTo("stock/42");
        assertThat(error.waited()).isEqualTo(Duration.ofMillis(1_500));
        assertThat(error.attempts()).isEqualTo(3);
        assertThat(new LockTimeoutException("a", Duration.ZERO, 1, true, null)).hasMessageContaining("(1 attempt)");
    }

    @Test
    void aTimeoutWhileTheBackEndFailedDoesNotBlameAnotherHolder() {
        LockBackendException failure = new LockBackendException("stock/42", "connection refused", true, null);

        LockTimeoutException error = new LockTimeoutException("stock/42", Duration.ofSeconds(1), 3, false, failure);

        assertThat(error).hasCause(failure).hasMessageContaining("connection refused");
        assertThat(error.getMessage()).doesNotContain("was held");
    }

    @Test
    void aTimeoutWithoutAnyAnswerDoesNotBlameAnotherHolder() {
        LockTimeoutException error = new LockTimeoutException("stock/42", Duration.ofSeconds(1), 1, false, null);

        assertThat(error).hasMessageContaining("the back end has not answered").hasNoCause();
        assertThat(error.backendAnswered()).isFalse();
    }

    @Test
    void aTimeoutNamesAFailureBeforeTheLastAnswer() {
        LockBackendException failure = new LockBackendException("stock/42", "connection refused", true, null);

        LockTimeoutException error = new LockTimeoutException("stock/42", Duration.ofSeconds(1), 3, true, failure);

        assertThat(error)
                .hasMessageContainingAll(
                        "another claim held it at the last attempt", "failed before that: connection refused")
                .hasCause(failure);
        assertThat(error.backendAnswered()).isTrue();
    }

    @Test
    void aRefusalByTheFenceSaysThatNothingIsWritten() {
        LockLostException error = LockLostException.refusedByFence("stock/42", 77, null);

        assertThat(error)
                .hasMessageContainingAll("'stock/42'", "77", "roll back", "nothing is written")
                .hasNoCause();
        assertThat(error.getMessage()).doesNotContain("unprotected");
        assertThat(error.reason()).isEqualTo(LossReason.NOT_HELD);
        assertThat(error.fencingToken()).isEqualTo(77);
    }

    @ParameterizedTest
    @EnumSource
    void aLossTellsItsReasonAndToken(LossReason reason) {
        LockLostException error = new LockLostException("stock/42", reason, 77);

        assertThat(error).hasMessageContainingAll("'stock/42'", "77", "unprotected");
        assertThat(error.reason()).isEqualTo(reason);
        assertThat(error.fencingToken()).isEqualTo(77);
        assertThat(error.lockName()).isEqualTo("stock/42");
    }

    @Test
    void aLossSaysWhatHappenedAndHasTheFailureAsItsCause() {
        LockBackendException failure = new LockBackendException("stock/42", "connection refused", true, null);

        LockLostException error =
                new LockLostException("stock/42", LossReason.EXPIRED, 77, "the last renewal failed", failure);

        assertThat(error)
                .hasMessageContainingAll("was lost: the last renewal failed;", "unprotected")
                .hasCause(failure);
    }

    @Test
    void aClosedClientNamesTheLockIfThereIsOne() {
        assertThat(new LockClosedException("stock/42")).hasMessageContaining("'stock/42'");
        assertThat(new LockClosedException("").getMessage()).doesNotContain("''");
    }

    @Test
    void aBackEndFailureKeepsItsArguments() {
        Exception cause = new IllegalStateException("wire");
        LockBackendException error = new LockBackendException("stock/42", "attempt 3 failed", true, cause);

        assertThat(error).hasMessage("attempt 3 failed").hasCause(cause);
        assertThat(error.isTransient()).isTrue();
        assertThat(error.lockName()).isEqualTo("stock/42");
    }
}
