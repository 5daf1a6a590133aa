package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.core.publisher.Mono;

/** When the clients of an application end: the client of the starter, and the application's own. */
class LifecycleTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class));

    /** Records whether the leases were still held when connections of the application ended. */
    static final class Connections implements SmartLifecycle {

        private final List<LockLease> leases = new CopyOnWriteArrayList<>();
        private final List<Boolean> heldAtTheEnd = new CopyOnWriteArrayList<>();
        private boolean isRunning;

        @Override
        public void start() {
            isRunning = true;
        }

        @Override
        public void stop() {
            isRunning = false;
            leases.forEach(lease -> heldAtTheEnd.add(lease.isValid()));
        }

        @Override
        public boolean isRunning() {
            return isRunning;
        }

        /** The phase of connection factories. */
        @Override
        public int getPhase() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoClients {

        @Bean
        LockClient orders() {
            return LockClient.create(InMemoryLockBackend.create());
        }

        @Bean
        LockClient reports() {
            return LockClient.create(InMemoryLockBackend.create());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AClientOfAnotherOwner {

        @Bean(destroyMethod = "")
        LockClient shared() {
            return LockClient.create(InMemoryLockBackend.create());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ALazyClient {

        @Bean
        @Lazy
        LockClient lazy() {
            throw new IllegalStateException("made, although nothing uses it");
        }
    }

    private static LockLease taken(LockClient locks) {
        return requireNonNull(locks.lock("a").acquire().block(LIMIT));
    }

    @Test
    void clientsOfTheApplicationAlsoCloseBeforeItsConnections() {
        runner.withUserConfiguration(TwoClients.class)
                .withBean(Connections.class)
                .run(context -> {
                    Connections connections = context.getBean(Connections.class);
                    context.getBeansOfType(LockClient.class)
                            .values()
                            .forEach(locks -> connections.leases.add(taken(locks)));

                    context.close();

                    assertThat(connections.heldAtTheEnd).containsExactly(false, false);
                    assertThat(connections.leases)
                            .allSatisfy(lease ->
                                    assertThat(lease.onLoss().block(LIMIT)).isEqualTo(LossReason.CLIENT_CLOSED));
                });
    }

    @Test
    void aClientWithoutADestroyMethodIsLeftOpen() {
        runner.withUserConfiguration(AClientOfAnotherOwner.class).run(context -> {
            LockClient shared = context.getBean(LockClient.class);
            LockLease lease = taken(shared);

            context.close();

            assertThat(lease.isValid()).isTrue();
            shared.close().block(LIMIT);
        });
    }

    @Test
    void aLazyClientIsNotMadeOnlyToBeClosed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withUserConfiguration(ALazyClient.class)
                .withBean(Connections.class)
                .run(context -> {
                    Connections connections = context.getBean(Connections.class);
                    context.close();
                    assertThat(connections.isRunning()).isFalse();
                });
    }

    /** As for a checkpoint of the JVM, which Spring takes between a stop and a start. */
    @Test
    void aContextThatIsStoppedAndStartedGoesOnWithItsLocks() {
        runner.withPropertyValues("holdfast.backend=memory")
                .withBean(Connections.class)
                .run(context -> {
                    LockClient locks = context.getBean(LockClient.class);
                    LockLease lease = taken(locks);

                    context.getSourceApplicationContext().stop();
                    context.getSourceApplicationContext().start();

                    assertThat(lease.isValid()).isTrue();
                    assertThat(locks.lock("b").withLock(Mono.just(1)).block(LIMIT))
                            .isOne();

                    Connections connections = context.getBean(Connections.class);
                    connections.leases.add(lease);
                    context.close();
                    assertThat(connections.heldAtTheEnd).containsExactly(false);
                });
    }

    @Test
    void aContextThatIsStoppedAndClosedReleasesItsLeases() {
        runner.withPropertyValues("holdfast.backend=memory").run(context -> {
            LockLease lease = taken(context.getBean(LockClient.class));

            context.getSourceApplicationContext().stop();
            context.close();

            assertThat(lease.onLoss().block(LIMIT)).isEqualTo(LossReason.CLIENT_CLOSED);
        });
    }

    @Test
    void aDisabledStarterDefinesNoBeans() {
        runner.withPropertyValues("holdfast.enabled=false", "holdfast.backend=memory")
                .run(context -> assertThat(context)
                        .doesNotHaveBean(LockClient.class)
                        .doesNotHaveBean(LockClientLifecycle.class)
                        .doesNotHaveBean(ReactiveHealthContributor.class));
        runner.withPropertyValues("holdfast.enabled=false")
                .withUserConfiguration(TwoClients.class)
                .run(context -> assertThat(context).doesNotHaveBean(ReactiveHealthContributor.class));
    }
}
