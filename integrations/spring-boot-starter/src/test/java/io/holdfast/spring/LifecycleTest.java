package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.ReactiveHealthContributor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

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

    /** Stands for the web server: it has two requests, and waits in its phase until they are answered. */
    static final class WebServer implements SmartLifecycle {

        private final List<String> order = new CopyOnWriteArrayList<>();
        private final Sinks.Empty<String> work = Sinks.empty();
        private final LockClient locks;
        private final CompletableFuture<String> holder;
        private final CompletableFuture<String> waiter;
        private boolean isRunning;

        WebServer(LockClient locks) {
            this.locks = locks;
            // The lease arrives on another thread. A drain ends a claim that does not have it yet.
            CompletableFuture<LockLease> held = new CompletableFuture<>();
            holder = locks.lock("a")
                    .withLock(lease -> {
                        held.complete(lease);
                        return work.asMono();
                    })
                    .toFuture();
            assertThat(held).succeedsWithin(LIMIT);
            waiter = locks.lock("a").withLock(Mono.just("never")).toFuture();
        }

        @Override
        public void start() {
            isRunning = true;
        }

        @Override
        public void stop() {
            isRunning = false;
            assertThatThrownBy(() -> waiter.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(LockClosedException.class);
            order.add("waiter is answered");
            assertThatThrownBy(() -> locks.lock("job").withLock(Mono.just(1)).block(LIMIT))
                    .isInstanceOf(LockClosedException.class);
            order.add("no job begins");
            assertThat(holder).isNotDone();
            work.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
            assertThat(holder).succeedsWithin(LIMIT);
            order.add("holder is done");
        }

        @Override
        public boolean isRunning() {
            return isRunning;
        }

        @Override
        public int getPhase() {
            return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE;
        }
    }

    @Test
    void waitersEndBeforeTheWebServerDrainsAndHoldersFinish() {
        runner.withPropertyValues("holdfast.backend=memory")
                .withBean(WebServer.class)
                .run(context -> {
                    WebServer server = context.getBean(WebServer.class);

                    context.close();

                    assertThat(server.order).containsExactly("waiter is answered", "no job begins", "holder is done");
                });
    }

    @Test
    void aClientWithoutADestroyMethodIsLeftOpen() {
        runner.withUserConfiguration(AClientOfAnotherOwner.class).run(context -> {
            LockClient shared = context.getBean(LockClient.class);
            LockLease lease = taken(shared);

            context.close();

            assertThat(lease.isValid()).isTrue();
            assertThat(shared.lock("b").withLock(Mono.just(1)).block(LIMIT)).isOne();
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
                        .doesNotHaveBean(LockClientDrain.class)
                        .doesNotHaveBean(ReactiveHealthContributor.class));
        runner.withPropertyValues("holdfast.enabled=false")
                .withUserConfiguration(TwoClients.class)
                .run(context -> assertThat(context).doesNotHaveBean(ReactiveHealthContributor.class));
    }
}
