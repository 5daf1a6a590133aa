package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Backoff;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Options of some locks by their names, from {@code holdfast.locks}. */
class ProfilesOfLocksTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues(
                    "holdfast.backend=memory",
                    "holdfast.lease-duration=20s",
                    "holdfast.wait-timeout=7s",
                    "holdfast.locks.[stock/*].lease-duration=10",
                    "holdfast.locks.[stock/rare/*].lease-duration=11s",
                    "holdfast.locks.[stock/rare/*].reentrant=false",
                    "holdfast.locks.[stock/42].lease-duration=12s",
                    "holdfast.locks.report.lease-duration=13s",
                    "holdfast.locks.nightly.auto-renew=false",
                    "holdfast.locks.nightly.wait-timeout=0s",
                    "holdfast.locks.nightly.max-hold-time=300",
                    "holdfast.locks.nightly.min-hold-time=90",
                    "holdfast.locks.nightly.reentrant=false",
                    "holdfast.locks.nightly.backoff.first=50ms",
                    "holdfast.locks.nightly.backoff.max=5",
                    "holdfast.locks.nightly.backoff.jitter=0.25");

    @ParameterizedTest
    @CsvSource({
        "stock/1, PT10S",
        "stock/, PT10S",
        "stock, PT20S",
        "stock/42, PT12S",
        "stock/421, PT10S",
        "stock/rare/1, PT11S",
        "report, PT13S",
        "reports, PT20S",
        "other, PT20S"
    })
    void aNameHasPrecedenceThenTheLongestBeginning(String lock, Duration lease) {
        runner.run(context -> assertThat(context.getBean(LockClient.class).lock(lock))
                .asString()
                .contains("leaseDuration=" + lease, "waitTimeout=PT7S"));
    }

    @Test
    void aProfileHasEachOption() {
        runner.run(context -> assertThat(context.getBean(LockClient.class).lock("nightly"))
                .asString()
                .contains(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(20))
                        .autoRenew(false)
                        .waitTimeout(Duration.ZERO)
                        .maxHoldTime(Duration.ofSeconds(300))
                        .minHoldTime(Duration.ofSeconds(90))
                        .reentrant(false)
                        .backoff(Backoff.exponential(Duration.ofMillis(50), Duration.ofSeconds(5))
                                .withJitter(0.25))
                        .build()
                        .toString()));
    }

    @Test
    void eachKindOfLockHasItsProfile() {
        runner.run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            assertThat(new Object[] {
                        locks.lock("stock/42"),
                        locks.readWriteLock("stock/42").readLock(),
                        locks.readWriteLock("stock/42").writeLock(),
                        locks.semaphore("stock/42", 3),
                        locks.semaphore("stock/42", 3).permits(2),
                        locks.election("stock/42")
                    })
                    .allSatisfy(lock -> assertThat(lock).asString().contains("leaseDuration=PT12S"));
        });
    }

    @Test
    void locksOfSeveralProfilesCanBeTakenTogether() {
        runner.run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            assertThat(locks.all(locks.lock("stock/42"), locks.lock("other")).names())
                    .containsExactly("other", "stock/42");
        });
    }

    @Test
    void optionsInCodeReplaceTheProfile() {
        runner.run(context -> assertThat(
                        context.getBean(LockClient.class).lock("stock/42").with(LockOptions.defaults()))
                .asString()
                .contains(LockOptions.defaults().toString()));
    }

    @Test
    void withoutProfilesTheClientIsNotWrapped() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.backend=memory")
                .run(context ->
                        assertThat(context.getBean(LockClient.class)).isNotInstanceOf(ProfiledLockClient.class));
    }

    @ParameterizedTest
    @CsvSource({
        "'holdfast.locks.[a/*].max-hold-time=5s', 'holdfast.locks.[a/*] do not fit: maxHoldTime must be at least leaseDuration'",
        "'holdfast.locks.[a/*].lease-duration=1ms', 'holdfast.locks.[a/*] do not fit: leaseDuration'",
        "'holdfast.locks.[a/*].backoff.jitter=2', 'holdfast.locks.[a/*] do not fit: '",
        "'holdfast.locks.[a/*/b].reentrant=false', 'holdfast.locks.[a/*/b] is not a pattern'",
        "'holdfast.locks.[**].reentrant=false', 'holdfast.locks.[**] is not a pattern'"
    })
    void anOptionThatDoesNotFitIsRefusedAtTheStart(String property, String problem) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("InvalidLockPropertiesException")
                        .hasStackTraceContaining(problem));
    }

    /** Three operation timeouts must fit into a lease. */
    @Test
    void anOptionThatDoesNotFitTheClientIsRefusedToo() {
        runner.withPropertyValues("holdfast.operation-timeout=4s")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("holdfast.locks.[stock/*] do not fit")
                        .hasStackTraceContaining("three operation timeouts"));
    }

    /** ZooKeeper is such a back end: its locks end with the session. */
    @Test
    void aMinimumHoldTimeIsRefusedWithABackEndWithoutIt() {
        LockBackend memory = InMemoryLockBackend.create();
        Set<LockFeature> features = EnumSet.copyOf(memory.features());
        features.remove(LockFeature.MIN_HOLD);
        LockBackend sessions = new ForwardingLockBackend() {

            @Override
            public LockBackend delegate() {
                return memory;
            }

            @Override
            public Set<LockFeature> features() {
                return features;
            }
        };
        runner.withBean(LockBackend.class, () -> sessions)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("holdfast.locks.[nightly] do not fit"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT20S", "PT50S"})
    void serversOfARedlockAreOldEnoughForTheLongestLease(Duration longest) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues(
                        "holdfast.backend=redlock",
                        "holdfast.redlock.uris=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3",
                        "holdfast.lease-duration=20s",
                        "holdfast.locks.slow.lease-duration=" + longest)
                .run(context -> assertThat(context.getBean(LockClient.class).lock("slow"))
                        .asString()
                        .contains("leaseDuration=" + longest));
    }
}
