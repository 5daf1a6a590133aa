package io.holdfast.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.Backoff;
import io.holdfast.LockBackendException;
import io.holdfast.LockClosedException;
import io.holdfast.LockKind;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.internal.engine.Randomness.Seed;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

class CandidateTest {

    private static final String NAME = "billing";
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Logger LOG = (Logger) LoggerFactory.getLogger("io.holdfast.LockClient");

    private final LockLostException lost = new LockLostException(NAME, LossReason.NOT_HELD, 7);
    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Candidate<Object> candidate =
            candidate(Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1)), 0);

    @BeforeEach
    void listen() {
        log.start();
        LOG.addAppender(log);
    }

    @AfterEach
    void stop() {
        LOG.detachAppender(log);
        clock.dispose();
    }

    private Candidate<Object> candidate(Backoff backoff, double random) {
        Randomness randomness = new Randomness(new Seed(1, 2, 3), () -> random);
        Engine engine =
                new Engine(new InstantBackend(), clock, null, new Events(null), null, Engine.NO_LIMIT, randomness, "");
        LockOptions options =
                LockOptions.builder().leaseDuration(LEASE).backoff(backoff).build();
        return new Candidate<>(
                LockSettings.of(engine, LockKey.of(LockKind.MUTEX, NAME), 1, options), lease -> Flux.never());
    }

    private static LockBackendException failure(boolean isTransient) {
        return new LockBackendException(NAME, "away", isTransient, null);
    }

    private boolean standsAgain(long token, Duration lasted, Throwable error) {
        candidate.elected(token);
        clock.advanceTimeBy(lasted);
        return candidate.standsAgainAfter(error);
    }

    private long pauseAfter(long token, Duration lasted, Throwable error) {
        assertThat(standsAgain(token, lasted, error)).isTrue();
        return Duration.ofNanos(candidate.pauseNanos()).toMillis();
    }

    @Test
    void aLossIsFollowedByAnotherCandidacyAfterAPauseThatDoubles() {
        assertThat(pauseAfter(7, LEASE, lost)).isEqualTo(20);
        assertThat(pauseAfter(7, LEASE, lost)).isEqualTo(40);
        assertThat(log.list).isEmpty();
    }

    @Test
    void aTermThatLastsLongerThanALeaseStartsThePausesAnew() {
        assertThat(pauseAfter(0, Duration.ZERO, failure(true))).isEqualTo(20);
        assertThat(pauseAfter(7, LEASE.plusNanos(1), lost)).isEqualTo(20);
    }

    @Test
    void anUnreachableBackEndIsTriedAgainAndReportedOnceInARow() {
        assertThat(pauseAfter(0, Duration.ZERO, failure(true))).isEqualTo(20);
        assertThat(pauseAfter(0, Duration.ZERO, failure(true))).isEqualTo(40);
        assertThat(log.list).hasSize(1);

        assertThat(pauseAfter(7, LEASE, lost)).isEqualTo(80);
        assertThat(pauseAfter(0, Duration.ZERO, failure(true))).isEqualTo(160);
        assertThat(log.list).hasSize(2);
    }

    @Test
    void aBackEndThatAnsweredMeanwhileIsReportedAgain() {
        assertThat(pauseAfter(0, Duration.ZERO, failure(true))).isEqualTo(20);
        assertThat(pauseAfter(0, LEASE.multipliedBy(2).plusSeconds(1), failure(true)))
                .isEqualTo(40);
        assertThat(log.list).hasSize(1);
        assertThat(pauseAfter(0, LEASE.multipliedBy(10), failure(true))).isEqualTo(20);
        assertThat(log.list).hasSize(2);
    }

    @Test
    void aPauseIsAMillisecondAtLeast() {
        Candidate<Object> eager = candidate(Backoff.fixed(Duration.ofMillis(1)).withJitter(1), 0.999);
        eager.elected(7);
        assertThat(eager.standsAgainAfter(lost)).isTrue();
        assertThat(eager.pauseNanos()).isEqualTo(1_000_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "store refuses for good",
                "client closed",
                "term failed",
                "term failed as the store does",
                "another lease lost",
                "another lock lost",
                "nested in a lost lease"
            })
    void theRestEndsTheCandidate(String end) {
        assertThat(
                        switch (end) {
                            case "store refuses for good" -> standsAgain(0, Duration.ZERO, failure(false));
                            case "client closed" -> standsAgain(0, Duration.ZERO, new LockClosedException(NAME));
                            case "term failed" -> standsAgain(7, LEASE, new IllegalStateException());
                            case "term failed as the store does" -> standsAgain(7, LEASE, failure(true));
                            case "another lease lost" ->
                                standsAgain(7, LEASE, new LockLostException(NAME, LossReason.EXPIRED, 6));
                            case "another lock lost" ->
                                standsAgain(7, LEASE, new LockLostException("other", LossReason.EXPIRED, 7));
                            default -> standsAgain(0, Duration.ZERO, lost);
                        })
                .isFalse();
    }
}
