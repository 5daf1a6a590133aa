package io.holdfast.zookeeper.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

class DelayedWatchesTest {

    private static final Duration PAUSE = Duration.ofMillis(50);

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final SerialExecutor executor = new SerialExecutor(clock);
    private final Session session = new Session(null, 1, "", "/holdfast", event -> {}, SessionValidity.found(0, 3_000));

    private static ClaimState claim(int number) {
        return new ClaimState(LockClaim.first(
                LockKey.of(LockKind.MUTEX, "lock"),
                "claim" + number,
                Duration.ofSeconds(30),
                io.holdfast.spi.Waiting.NONE));
    }

    /** So a holder learns at once of the deletion of its node when it has held for two pauses: the pages say 100 ms. */
    @Test
    void nodeIsWatchedAfterOnePauseAndBeforeTwoAreOver() {
        Map<String, Long> added = new HashMap<>();
        Map<String, Duration> waited = new HashMap<>();
        DelayedWatches watches = new DelayedWatches(
                executor,
                PAUSE,
                (state, of) -> waited.put(state.id(), Duration.ofNanos(executor.now() - added.get(state.id()))));
        Random random = new Random(4);
        for (int i = 0; i < 1_000; i++) {
            ClaimState state = claim(i);
            added.put(state.id(), executor.now());
            watches.add(state, session);
            clock.advanceTimeBy(Duration.ofMillis(random.nextInt(30)));
        }
        clock.advanceTimeBy(PAUSE.multipliedBy(2));

        assertThat(waited)
                .hasSize(1_000)
                .allSatisfy((id, pause) -> assertThat(pause).isBetween(PAUSE, PAUSE.multipliedBy(2)));
        assertThat(waited.values()).as("the page may promise no less").anyMatch(it -> it.toMillis() > 90);
    }
}
