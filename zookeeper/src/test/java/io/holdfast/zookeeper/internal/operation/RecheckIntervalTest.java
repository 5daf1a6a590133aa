package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecheckIntervalTest {

    @Test
    void waitersReadAboutOncePerSessionTimeoutAndNotTogether() {
        Duration timeout = Duration.ofSeconds(30);
        Set<Duration> pauses = IntStream.range(0, 1_000)
                .mapToObj(i -> RecheckInterval.nextAttemptWithin(
                        timeout, UUID.randomUUID().toString()))
                .collect(Collectors.toSet());
        assertThat(pauses).hasSizeGreaterThan(400);
        assertThat(pauses)
                .allSatisfy(it -> assertThat(it)
                        .isBetween(timeout, timeout.multipliedBy(3).dividedBy(2)));
    }

    @Test
    void shortSessionsDoNotMakeWaitersPoll() {
        assertThat(RecheckInterval.nextAttemptWithin(Duration.ofMillis(500), "claim"))
                .isGreaterThanOrEqualTo(RecheckInterval.SHORTEST);
    }
}
