package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods with {@link Locked}. */
class LockedTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastLockedAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory");

    private void with(Class<?> bean, Consumer<Running> test) {
        with(runner, bean, test);
    }

    private static void with(ApplicationContextRunner runner, Class<?> bean, Consumer<Running> test) {
        runner.withBean(bean).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(new Running(context.getBean(LockClient.class), context.getBean(bean)));
        });
    }

    private record Running(LockClient locks, Object bean) {

        <B> B as(Class<B> type) {
            return type.cast(bean);
        }

        boolean isHeld(String name) {
            return locks.election(name).leader().hasElement().block(LIMIT);
        }

        LockLease rival(String name) {
            return locks.lock(name).acquire().block(LIMIT);
        }
    }

    record Order(String id) {}

    static class Shop {

        private final LockClient locks;
        private final AtomicInteger calls = new AtomicInteger();

        Shop(LockClient locks) {
            this.locks = locks;
        }

        private Mono<Long> tokenOf(String name) {
            return locks.election(name).leader().map(LockHolder::fencingToken);
        }

        @Locked("stock/{#item}")
        public Mono<Long> sell(String item) {
            calls.incrementAndGet();
            return tokenOf("stock/" + item);
        }

        @Locked("stock/{#p0}/{#count + 1}")
        public Mono<Boolean> positions(String item, int count) {
            return tokenOf("stock/%s/%d".formatted(item, count + 1)).hasElement();
        }

        @Locked("order/{#order.id.toLowerCase()}")
        public Flux<Long> lines(Order order) {
            return Flux.just(1, 2).concatMap(line -> tokenOf("order/a1"));
        }

        @Locked("nightly")
        public Mono<Long> constant() {
            return tokenOf("nightly");
        }

        @Locked("fails")
        public Mono<Long> failsOnce() {
            return calls.incrementAndGet() == 1 ? Mono.error(new IllegalStateException("first")) : tokenOf("fails");
        }

        @Locked("throws")
        public Mono<Long> throwsAtOnce() {
            throw new IllegalStateException("thrown");
        }

        @Locked("token")
        public Mono<Boolean> sendsItsToken() {
            return LockedLease.fencingToken().zipWith(tokenOf("token"), Long::equals);
        }

        @Locked("later")
        public Mono<Object> emitsALaterBody() {
            return Mono.just(ResponseEntity.ok(tokenOf("later")));
        }

        @Locked("many")
        public Flux<Object> emitsLaterBodies() {
            return Flux.just("done", ResponseEntity.ok(tokenOf("many")));
        }

        @Locked("outer")
        public Mono<Long> reentrant() {
            return LockedLease.current()
                    .flatMap(lease -> locks.lock("outer")
                            .withLock(inner -> Mono.just(inner.fencingToken()))
                            .filter(token -> token == lease.fencingToken()));
        }

        public Mono<Long> callsItself() {
            return sendsItsToken().map(same -> 1L);
        }
    }

    static class Profiled {

        @Locked(value = "short/{#item}", waitTimeout = "1s")
        public Mono<Duration> lease(String item) {
            return LockedLease.current().map(LockLease::remaining);
        }

        @Locked(value = "long/{#item}", waitTimeout = "1s")
        public Mono<Duration> other(String item) {
            return LockedLease.current().map(LockLease::remaining);
        }
    }

    @Test
    void optionsOfAnAnnotationChangeThoseOfTheProfileOfItsLock() {
        with(runner.withPropertyValues("holdfast.locks.[short/*].lease-duration=5s"), Profiled.class, running -> {
            assertThat(running.as(Profiled.class).lease("a").block(LIMIT))
                    .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
            assertThat(running.as(Profiled.class).other("a").block(LIMIT)).isGreaterThan(Duration.ofSeconds(10));
        });
    }

    @Test
    void theMethodRunsUnderItsLock() {
        with(Shop.class, app -> {
            Shop shop = app.as(Shop.class);
            assertThat(AopUtils.isCglibProxy(shop)).isTrue();
            assertThat(shop.sell("tea").block(LIMIT)).isPositive();
            assertThat(app.isHeld("stock/tea")).isFalse();
            assertThat(shop.positions("tea", 41).block(LIMIT)).isTrue();
            assertThat(shop.lines(new Order("A1")).collectList().block(LIMIT)).hasSize(2);
            assertThat(shop.constant().block(LIMIT)).isPositive();
        });
    }

    @Test
    void nothingHappensBeforeASubscriptionAndEachIsACall() {
        with(Shop.class, app -> {
            Mono<Long> sale = app.as(Shop.class).sell("tea");
            assertThat(app.isHeld("stock/tea")).isFalse();
            assertThat(sale.block(LIMIT)).isLessThan(sale.block(LIMIT));
        });
    }

    @Test
    void aRetryCallsTheMethodAgainUnderTheLock() {
        with(
                Shop.class,
                app -> assertThat(app.as(Shop.class).failsOnce().retry(1).block(LIMIT))
                        .isPositive());
    }

    @Test
    void exceptionOfTheMethodIsEmittedAfterTheRelease() {
        with(Shop.class, app -> {
            Mono<Long> call = app.as(Shop.class).throwsAtOnce();
            assertThatThrownBy(() -> call.block(LIMIT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("thrown");
            assertThat(app.isHeld("throws")).isFalse();
        });
    }

    @Test
    void aNullArgumentTakesNoLock() {
        with(
                Shop.class,
                app -> assertThatThrownBy(() -> app.as(Shop.class).sell(null).block(LIMIT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("@Locked on Shop.sell: {#item} in the name of the lock is null"));
    }

    @Test
    void theLeaseIsInTheReactorContext() {
        with(Shop.class, app -> {
            Shop shop = app.as(Shop.class);
            assertThat(shop.sendsItsToken().block(LIMIT)).isTrue();
            assertThat(shop.reentrant().block(LIMIT)).isPositive();
            assertThatThrownBy(() -> LockedLease.fencingToken().block(LIMIT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("no lease: not inside a @Locked method");
        });
    }

    @Test
    void aCallFromTheSameObjectTakesNoLockAndFindsNoLease() {
        with(
                Shop.class,
                app -> assertThatThrownBy(() -> app.as(Shop.class).callsItself().block(LIMIT))
                        .hasMessageContaining("called from a method of the same object"));
    }

    @Test
    void aResultThatGoesOnAfterTheReleaseIsAnError() {
        with(Shop.class, app -> {
            assertThatThrownBy(() -> app.as(Shop.class).emitsALaterBody().block(LIMIT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("which goes on after the release");
            assertThat(app.isHeld("later")).isFalse();
            assertThatThrownBy(() -> app.as(Shop.class).emitsLaterBodies().blockLast(LIMIT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("which goes on after the release");
            assertThat(app.isHeld("many")).isFalse();
        });
    }

    @Test
    void aCancellationReleases() {
        with(Endless.class, app -> {
            var subscription = app.as(Endless.class).forever().subscribe();
            assertThat(app.isHeld("forever")).isTrue();
            subscription.dispose();
            assertThat(app.locks().lock("forever").acquire().block(LIMIT)).isNotNull();
        });
    }

    static class Endless {

        @Locked("forever")
        public Mono<Void> forever() {
            return Mono.never();
        }
    }

    static class Waiting {

        @Locked(value = "held", leaseDuration = "${shop.lease}", waitTimeout = "20ms", maxHoldTime = "PT1S")
        public Mono<Void> tooLong() {
            return Mono.never();
        }

        @Locked(value = "beans", options = "patient", leaseDuration = "1")
        public Mono<Duration> ofBean() {
            return LockedLease.current().map(LockLease::remaining);
        }

        @Locked(value = "once", minHoldTime = "1m")
        public Mono<Void> once() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Patient {

        @Bean
        LockOptions patient() {
            return LockOptions.builder().autoRenew(false).build();
        }
    }

    @Test
    void optionsComeFromTheAnnotation() {
        ApplicationContextRunner configured =
                runner.withUserConfiguration(Patient.class).withPropertyValues("shop.lease=1s");
        with(configured, Waiting.class, app -> {
            Waiting bean = app.as(Waiting.class);
            assertThat(bean.ofBean().block(LIMIT)).isBetween(Duration.ofMillis(1), Duration.ofSeconds(1));
            assertThatThrownBy(() -> bean.tooLong().block(LIMIT)).isInstanceOf(LockLostException.class);
            LockLease rival = app.rival("held");
            assertThatThrownBy(() -> bean.tooLong().block(LIMIT)).isInstanceOf(LockTimeoutException.class);
            assertThat(rival.release().thenReturn(true).block(LIMIT)).isTrue();
            assertThat(bean.once().thenReturn(true).block(LIMIT)).isTrue();
            assertThat(app.isHeld("once")).isTrue();
        });
    }

    static class Kinds {

        private final Sinks.Empty<Void> end = Sinks.empty();

        @Locked(value = "shelf", kind = Locked.Kind.READ)
        public Mono<Void> read() {
            return end.asMono();
        }

        @Locked(value = "shelf", kind = Locked.Kind.WRITE, waitTimeout = "0")
        public Mono<Void> write() {
            return Mono.empty();
        }

        @Locked(value = "pool", kind = Locked.Kind.SEMAPHORE, permits = "${pool.size:2}", waitTimeout = "0")
        public Mono<Void> permit() {
            return end.asMono();
        }
    }

    @Test
    void everyKindOfLockCanBeNamed() {
        with(Kinds.class, app -> {
            Kinds bean = app.as(Kinds.class);
            List<Object> ends = new CopyOnWriteArrayList<>();
            Flux.merge(bean.read(), bean.read(), bean.permit(), bean.permit()).subscribe(null, ends::add);
            assertThat(ends).isEmpty();
            assertThatThrownBy(() -> bean.write().block(LIMIT)).isInstanceOf(LockTimeoutException.class);
            assertThatThrownBy(() -> bean.permit().block(LIMIT)).isInstanceOf(LockTimeoutException.class);
        });
    }

    static class Jobs {

        private final AtomicInteger runs = new AtomicInteger();
        private final LockClient locks;

        Jobs(LockClient locks) {
            this.locks = locks;
        }

        public int runs() {
            return runs.get();
        }

        @Locked(value = "job", skipWhenTaken = true)
        public Mono<String> one() {
            runs.incrementAndGet();
            return Mono.just("done");
        }

        @Locked(value = "job", skipWhenTaken = true)
        public Flux<String> many() {
            runs.incrementAndGet();
            return Flux.just("done", "and done");
        }

        @Locked(value = "job", skipWhenTaken = true)
        public Mono<String> waitsForAnother() {
            LockOptions once = LockOptions.builder().waitTimeout(Duration.ZERO).build();
            return locks.lock("other").with(once).withLock(lease -> Mono.just("done"));
        }
    }

    @Test
    void aMethodIsSkippedWhenItsLockIsTaken() {
        with(Jobs.class, app -> {
            Jobs jobs = app.as(Jobs.class);
            assertThat(jobs.one().block(LIMIT)).isEqualTo("done");
            assertThat(jobs.many().collectList().block(LIMIT)).hasSize(2);
            LockLease rival = app.rival("job");
            assertThat(jobs.one().blockOptional(LIMIT)).isEmpty();
            assertThat(jobs.many().collectList().block(LIMIT)).isEmpty();
            assertThat(jobs.runs()).isEqualTo(2);
            assertThat(rival.release().thenReturn(true).block(LIMIT)).isTrue();
        });
    }

    @Test
    void theTimeoutOfAnotherLockIsAnErrorOfTheMethod() {
        with(Jobs.class, app -> {
            LockLease rival = app.rival("other");
            assertThatThrownBy(() -> app.as(Jobs.class).waitsForAnother().block(LIMIT))
                    .isInstanceOf(LockTimeoutException.class);
            assertThat(rival.release().thenReturn(true).block(LIMIT)).isTrue();
        });
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Locked(value = "", waitTimeout = "0")
    @interface Impatient {

        @AliasFor(annotation = Locked.class, attribute = "value")
        String value();
    }

    static class Composed {

        @Impatient("composed")
        public Mono<Long> call() {
            return LockedLease.fencingToken();
        }
    }

    interface Contract {

        @Locked("contract/{#id}")
        Mono<Long> call(String id);
    }

    static class Implementation implements Contract {

        @Override
        public Mono<Long> call(String id) {
            return LockedLease.fencingToken();
        }
    }

    @Test
    void anAnnotationMayBeComposedOrOfAnInterface() {
        with(Composed.class, app -> {
            LockLease rival = app.rival("composed");
            assertThatThrownBy(() -> app.as(Composed.class).call().block(LIMIT))
                    .isInstanceOf(LockTimeoutException.class);
            assertThat(rival.release().thenReturn(true).block(LIMIT)).isTrue();
            assertThat(app.as(Composed.class).call().block(LIMIT)).isPositive();
        });
        ApplicationContextRunner interfaces = runner.withPropertyValues("spring.aop.proxy-target-class=false");
        interfaces.withBean(Implementation.class).run(context -> {
            Contract bean = context.getBean(Contract.class);
            assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
            assertThat(bean.call("7").block(LIMIT)).isPositive();
        });
    }

    record Diary(List<String> lines) {}

    static class InTransaction {

        private final Diary diary;

        InTransaction(Diary diary) {
            this.diary = diary;
        }

        @Transactional
        @Locked("account")
        public Mono<Void> transfer() {
            return Mono.fromRunnable(() -> diary.lines().add("transfer"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class UsualOrder extends Transactions {}

    /** With this order, other interceptors run inside the transaction. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class FirstOfAll extends Transactions {}

    /** Records whether the lock is held at each step. */
    static class Transactions {

        @Bean
        Diary diary() {
            return new Diary(new CopyOnWriteArrayList<>());
        }

        @Bean
        ReactiveTransactionManager transactions(LockClient locks, Diary diary) {
            return new AbstractReactiveTransactionManager() {
                private Mono<Void> note(String step) {
                    return locks.election("account")
                            .leader()
                            .hasElement()
                            .doOnNext(held -> diary.lines().add(step + (held ? ", held" : ", free")))
                            .then();
                }

                @Override
                protected Object doGetTransaction(TransactionSynchronizationManager synchronizations) {
                    return new Object();
                }

                @Override
                protected Mono<Void> doBegin(
                        TransactionSynchronizationManager synchronizations,
                        Object transaction,
                        TransactionDefinition definition) {
                    return note("begin");
                }

                @Override
                protected Mono<Void> doCommit(
                        TransactionSynchronizationManager synchronizations, GenericReactiveTransaction status) {
                    return note("commit");
                }

                @Override
                protected Mono<Void> doRollback(
                        TransactionSynchronizationManager synchronizations, GenericReactiveTransaction status) {
                    return note("rollback");
                }
            };
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {UsualOrder.class, FirstOfAll.class})
    void theLockIsTakenBeforeTheTransactionBeginsAndReleasedAfterTheCommit(Class<?> transactions) {
        runner.withUserConfiguration(transactions).withBean(InTransaction.class).run(context -> {
            context.getBean(InTransaction.class).transfer().block(LIMIT);
            assertThat(context.getBean(Diary.class).lines()).containsExactly("begin, held", "transfer", "commit, held");
        });
    }

    @Test
    void eachSubscriptionHasATransactionOfItsOwn() {
        runner.withUserConfiguration(UsualOrder.class)
                .withBean(InTransaction.class)
                .run(context -> {
                    assertThat(context.getBean(InTransaction.class)
                                    .transfer()
                                    .repeat(1)
                                    .collectList()
                                    .block(LIMIT))
                            .isEmpty();
                    assertThat(context.getBean(Diary.class).lines())
                            .containsExactly(
                                    "begin, held",
                                    "transfer",
                                    "commit, held",
                                    "begin, held",
                                    "transfer",
                                    "commit, held");
                });
    }

    /** The class path has only what Spring Boot brings by itself. */
    @Test
    void aspectJIsNotNeeded() {
        assertThatThrownBy(() -> Class.forName("org.aspectj.weaver.Advice")).isInstanceOf(ClassNotFoundException.class);
    }

    @Test
    void aNativeImageHasHintsForTheMethods() {
        RuntimeHints hints = new RuntimeHints();
        new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, Shop.class);
        assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Shop.class, "sell"))
                .accepts(hints);
    }
}
