package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ProblemTest {

    @Test
    void aBusyLockIsAConflictAndAnUnreachableLockServiceIsUnavailable() {
        assertThat(Problem.of(timeout(true)).status()).isEqualTo(409);
        assertThat(Problem.of(timeout(false)).status()).isEqualTo(503);
    }

    private static LockTimeoutException timeout(boolean backendAnswered) {
        return new LockTimeoutException("customer/1", Duration.ofSeconds(1), 3, backendAnswered, null);
    }

    @Test
    void aSlowBureauIsNotAFailureOfThisService() {
        assertThat(Problem.of(new TimeoutException()).status()).isEqualTo(504);
    }

    @Test
    void anUnexpectedErrorIsAFailureOfThisService() {
        assertThat(Problem.of(new IllegalStateException()).status()).isEqualTo(500);
    }
}
