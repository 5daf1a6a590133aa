package io.holdfast.spring;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLease;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** On which threads work under a lock begins, depending on {@code holdfast.deliver-on}. */
class WhereWorkRunsTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory");

    @Configuration(proxyBeanMethods = false)
    static class WithScheduler {

        @Bean
        Scheduler mine() {
            return Schedulers.newSingle("mine");
        }
    }

    private static Thread threadOfWork(LockClient locks) {
        return requireNonNull(locks.lock("a")
                .withLock(Mono.fromCallable(Thread::currentThread))
                .block(LIMIT));
    }

    /** Also if the property is not set. */
    @ParameterizedTest
    @ValueSource(strings = {"any=thing", "holdfast.deliver-on=auto", "holdfast.deliver-on=threads"})
    void workRunsOnThreadsOfItsOwn(String property) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(threadOfWork(context.getBean(LockClient.class)))
                        .matches(Thread::isDaemon)
                        .extracting(Thread::getName)
                        .asString()
                        .startsWith("holdfast-work-"));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void workRunsOnAVirtualThreadIfConfigured() {
        List.of("spring.threads.virtual.enabled=true", "holdfast.deliver-on=virtual-threads")
                .forEach(property -> runner.withPropertyValues(property)
                        .run(context -> assertThat(threadOfWork(context.getBean(LockClient.class))
                                        .toString())
                                .startsWith("VirtualThread")
                                .contains("holdfast-work-")));
    }

    @Test
    @EnabledForJreRange(max = JRE.JAVA_20)
    void virtualThreadsAreRefusedOnAnOldJvm() {
        runner.withPropertyValues("holdfast.deliver-on=virtual-threads")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidLockPropertiesException.class)
                        .hasMessageContaining("Java 21"));
    }

    /** The in-memory back end grants a free lock on the calling thread. */
    @Test
    void workRunsOnTheThreadsOfTheBackEndIfConfigured() {
        runner.withPropertyValues("holdfast.deliver-on=event-loop")
                .run(context -> assertThat(threadOfWork(context.getBean(LockClient.class)))
                        .isEqualTo(Thread.currentThread()));
    }

    @Test
    void aSchedulerOfTheApplicationIsUsedAndLeftOpen() {
        Scheduler mine = Schedulers.newSingle("mine");
        runner.withBean("mine", Scheduler.class, () -> mine, definition -> definition.setDestroyMethodName(""))
                .withPropertyValues("holdfast.deliver-on=mine")
                .run(context -> {
                    assertThat(threadOfWork(context.getBean(LockClient.class)).getName())
                            .startsWith("mine");
                    context.close();
                    assertThat(mine.isDisposed()).isFalse();
                });
        mine.dispose();
    }

    /** The end of a client ends its leases, and signals that on these threads. */
    @ParameterizedTest
    @CsvSource({"threads, holdfast-work-", "mine, mine"})
    void theSchedulerIsDisposedOfAfterTheClient(String where, String thread) {
        List<String> threads = new CopyOnWriteArrayList<>();
        runner.withUserConfiguration(WithScheduler.class)
                .withPropertyValues("holdfast.deliver-on=" + where)
                .run(context -> {
                    LockLease lease = requireNonNull(context.getBean(LockClient.class)
                            .lock("a")
                            .acquire()
                            .block(LIMIT));
                    Mono<Void> signalled = Mono.fromFuture(lease.onLoss()
                            .doOnNext(loss -> threads.add(Thread.currentThread().getName()))
                            .then()
                            .toFuture());

                    context.close();

                    signalled.block(LIMIT);
                    assertThat(threads).singleElement().asString().startsWith(thread);
                });
    }

    /** Otherwise a caller that blocks for its result would never continue. */
    @Test
    void waitingSignalsArriveEvenIfTheApplicationEnds() {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        runner.withPropertyValues("holdfast.deliver-threads=1").run(context -> {
            LockClient locks = context.getBean(LockClient.class);
            CompletableFuture<Boolean> blocking = locks.lock("a")
                    .withLock(Mono.fromCallable(() -> {
                        begun.countDown();
                        return end.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
                    }))
                    .toFuture();
            assertThat(begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Integer> waiting =
                    locks.lock("b").withLock(lease -> Mono.just(1)).toFuture();

            context.close();

            assertThat(waiting)
                    .failsWithin(LIMIT)
                    .withThrowableThat()
                    .havingRootCause()
                    .isInstanceOf(LockClosedException.class);
            assertThat(blocking).failsWithin(LIMIT);
        });
        end.countDown();
    }

    @ParameterizedTest
    @CsvSource({
        "holdfast.deliver-on=elsewhere, no bean of type reactor.core.scheduler.Scheduler",
        "holdfast.deliver-on=holdfastLockBackend, no bean of type reactor.core.scheduler.Scheduler",
        "holdfast.deliver-threads=0, holdfast.deliver-threads is 0"
    })
    void aValueThatNamesNoThreadsIsRefused(String property, String problem) {
        runner.withPropertyValues(property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidLockPropertiesException.class)
                        .hasMessageContaining(problem));
    }

    @Test
    void aCustomizerReplacesTheProperties() {
        runner.withBean(LockClientCustomizer.class, () -> builder -> builder.deliverOn(Schedulers.immediate()))
                .withBean(LockBackend.class, InMemoryLockBackend::create)
                .run(context -> assertThat(threadOfWork(context.getBean(LockClient.class)))
                        .isEqualTo(Thread.currentThread()));
    }
}
