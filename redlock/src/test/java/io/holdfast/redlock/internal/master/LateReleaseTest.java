package io.holdfast.redlock.internal.master;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.test.scheduler.VirtualTimeScheduler;

class LateReleaseTest {

    private static final Duration LEASE = Duration.ofSeconds(1);

    private final List<Throwable> dropped = new ArrayList<>();
    private boolean isFatal;
    private final List<CoreSubscriber<? super Ownership>> asked = new ArrayList<>();
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();

    /** The failure of a release is on its way already when the release is cancelled. */
    private final class Deaf implements ForwardingLockBackend {

        private final LockBackend memory = InMemoryLockBackend.create(time);

        @Override
        public LockBackend delegate() {
            return memory;
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            if (isFatal) {
                throw new NoClassDefFoundError("once");
            }
            return Mono.fromDirect(subscriber -> {
                @SuppressWarnings("unchecked")
                CoreSubscriber<? super Ownership> waiting = (CoreSubscriber<? super Ownership>) subscriber;
                asked.add(waiting);
                waiting.onSubscribe(Operators.emptySubscription());
            });
        }
    }

    private final Masters masters = new Masters(new MasterSettings(
            Collections.nCopies(3, new Deaf()),
            List.of("one", "two", "three"),
            time,
            null,
            null,
            () -> 0.5,
            WallClock.ofSystem()));

    @BeforeEach
    void collectWhatIsDropped() {
        Hooks.onErrorDropped(dropped::add);
    }

    @AfterEach
    void reset() {
        Hooks.resetOnErrorDropped();
        time.dispose();
    }

    private final LockClaim claim =
            new LockClaim(LockKey.of(LockKind.MUTEX, "stock"), "claim", LEASE, Waiting.NONE, 1, 0, 1, "");

    @Test
    void anErrorOfTheJvmInTheDriverDoesNotStopLaterReleases() {
        isFatal = true;
        try {
            masters.releases().release(0, claim);
        } catch (LinkageError passedOn) {
            // to the caller
        }
        isFatal = false;
        time.advanceTimeBy(LEASE.dividedBy(2));
        assertThat(asked).isNotEmpty();
    }

    @Test
    void aLogThatThrowsDoesNotReachTheRoundThatReleases() {
        TurboFilter broken = new TurboFilter() {
            @Override
            public FilterReply decide(
                    Marker marker, Logger logger, Level level, String format, Object[] params, Throwable thrown) {
                if (level.isGreaterOrEqual(Level.WARN)) {
                    throw new IllegalStateException("the disk is full");
                }
                return FilterReply.NEUTRAL;
            }
        };
        LoggerContext logs = (LoggerContext) LoggerFactory.getILoggerFactory();
        logs.addTurboFilter(broken);
        try {
            for (int i = 0; i <= BackgroundReleases.MOST_UNDER_WAY + BackgroundReleases.MOST_WAITING; i++) {
                masters.releases().release(0, claim);
            }
        } finally {
            logs.getTurboFilterList().remove(broken);
        }
        assertThat(asked).hasSize(BackgroundReleases.MOST_UNDER_WAY);
    }

    @Test
    void aBackgroundReleaseThatFailsAtItsTimeLimitIsNotLoggedAsAnError() {
        masters.releases().release(0, claim);
        time.advanceTimeBy(masters.limit(LEASE));

        asked.get(0).onError(new IllegalStateException("late"));

        assertThat(dropped).isEmpty();
    }
}
