package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReconnectBackoffTest {

    private final ReconnectBackoff pace = new ReconnectBackoff();

    @Test
    void theFirstConnectionIsLeftAtOnceAndLaterOnesAfterLongerAndLongerPauses() {
        long now = Long.MAX_VALUE - ms(100); // the clock may turn over
        assertThat(pace.nextPause(now)).isZero();
        for (long wanted : new long[] {100, 200, 400, 800, 800, 800}) {
            long pause = pace.nextPause(now);
            assertThat(pause).isEqualTo(ms(wanted));
            now += pause;
        }
    }

    @Test
    void aPauseThatHasPassedIsNotWaitedForAgain() {
        assertThat(pace.nextPause(0)).isZero();
        assertThat(pace.nextPause(ms(60))).isEqualTo(ms(40));
        assertThat(pace.nextPause(ms(500))).isZero();
    }

    @Test
    void aConnectionThatWasOfUseForLongIsLeftAtOnce() {
        for (int i = 0; i < 10; i++) {
            long unused = pace.nextPause(0);
        }
        assertThat(pace.nextPause(TimeUnit.MINUTES.toNanos(1))).isZero();
        assertThat(pace.nextPause(TimeUnit.MINUTES.toNanos(1))).isEqualTo(ms(100));
    }

    private static long ms(long millis) {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
