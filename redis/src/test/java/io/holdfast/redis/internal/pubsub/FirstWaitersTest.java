package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class FirstWaitersTest {

    private static final Duration CLAIM_TIME = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(10);

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<String> woken = new ArrayList<>();
    private final FirstWaiters waiters = new FirstWaiters(CLAIM_TIME, (pause, task) -> tasks.add(task), woken::add);

    @CanIgnoreReturnValue
    private Duration queued(String id) {
        return waiters.queued("lock", id, new LockAttempt.Queued(LONG)).nextAttemptWithin();
    }

    private void halfAClaimTimePasses() {
        Objects.requireNonNull(tasks.poll()).run();
    }

    @Test
    void theFirstWaiterOfEachLockComesBackWithinTheClaimTime() {
        assertThat(queued("one")).isEqualTo(CLAIM_TIME);
        assertThat(queued("two")).isEqualTo(LONG);
        assertThat(waiters.queued("other", "three", new LockAttempt.Queued(LONG))
                        .nextAttemptWithin())
                .isEqualTo(CLAIM_TIME);
        assertThat(queued("one")).isEqualTo(CLAIM_TIME);
    }

    @Test
    void aWaiterThatBecomesTheFirstSendsAnAttemptWithinTheClaimTime() {
        queued("one");
        queued("two");
        halfAClaimTimePasses();
        assertThat(woken).isEmpty();
        waiters.left("lock", "one");

        halfAClaimTimePasses();
        halfAClaimTimePasses();

        assertThat(woken).containsExactly("two");
        halfAClaimTimePasses();
        halfAClaimTimePasses();
        assertThat(woken).as("its own answers bring it back").hasSize(1);
    }

    @Test
    void withoutWaitersThereIsNoTask() {
        queued("one");
        waiters.left("lock", "one");

        halfAClaimTimePasses();

        assertThat(tasks).isEmpty();
    }
}
