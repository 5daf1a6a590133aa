package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import io.holdfast.blocking.BlockingLocks;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.web.context.request.async.DeferredResult;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Methods with {@link Locked} that block. */
@Timeout(60)
class LockedBlockingTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastLockedAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory")
            .withBean(Shop.class);

    static class Shop {

        private final LockClient locks;
        private final BlockingLocks blocking;
        private final AtomicInteger calls = new AtomicInteger();

        Shop(LockClient locks, BlockingLocks blocking) {
            this.locks = locks;
            this.blocking = blocking;
        }

        public LockClient locks() {
            return locks;
        }

        public int calls() {
            return calls.get();
        }

        public boolean isHeld(String name) {
            return locks.election(name).leader().hasElement().block(LIMIT);
        }

        @Locked("stock/{#item}")
        public String sell(String item) {
            assertThat(isHeld("stock/" + item)).isTrue();
            assertThat(LockedLease.ofThread().lockName()).isEqualTo("stock/" + item);
            return Thread.currentThread().getName() + MDC.get("request");
        }

        @Locked("stock/{#item}")
        public void fails(String item) throws IOException {
            throw new IOException(item);
        }

        @Locked("again")
        public boolean again() throws Exception {
            long token = LockedLease.ofThread().fencingToken();
            return blocking.lock("again").withLock(lease -> lease.fencingToken() == token);
        }

        @Locked(value = "job", skipWhenTaken = true)
        public void job() {
            calls.incrementAndGet();
        }

        @Locked(value = "hasty", waitTimeout = "20ms")
        public int hasty() {
            return 1;
        }

        @Locked("waits")
        public int waits() {
            return 1;
        }

        @Locked("waits")
        public int waitsInterruptibly() throws InterruptedException {
            return 1;
        }

        @Locked("lost")
        public String lost() {
            locks.close().subscribe();
            assertThatThrownBy(() -> new CountDownLatch(1).await(10, TimeUnit.SECONDS))
                    .isInstanceOf(InterruptedException.class);
            return "unprotected";
        }

        @Locked("generic")
        public <T> T generic(Supplier<T> work) {
            return work.get();
        }

        @Locked(value = "printer", kind = Locked.Kind.SEMAPHORE, permits = "1", waitTimeout = "0")
        public String print() {
            return "printed";
        }

        @Locked(value = "shelf", kind = Locked.Kind.WRITE)
        public String write() {
            return "written";
        }
    }

    static class StreamingBody extends DeferredResult<String> {}

    interface Checks {

        void run(Shop shop) throws Exception;
    }

    private void with(Checks test) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            test.run(context.getBean(Shop.class));
        });
    }

    @Test
    void aMethodRunsOnTheThreadOfItsCallerUnderItsLock() {
        with(shop -> {
            MDC.put("request", " 7");
            assertThat(shop.sell("tea")).isEqualTo(Thread.currentThread().getName() + " 7");
            MDC.clear();
            assertThat(shop.isHeld("stock/tea")).isFalse();
            assertThat(shop.write()).isEqualTo("written");
            assertThatThrownBy(LockedLease::ofThread).isInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void aCheckedExceptionIsThrownAsItIs() {
        with(shop -> {
            assertThatThrownBy(() -> shop.fails("tea"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("tea");
            assertThat(shop.isHeld("stock/tea")).isFalse();
        });
    }

    @Test
    void theBeanOfBlockingLocksKnowsTheLockOfTheMethod() {
        with(shop -> assertThat(shop.again()).isTrue());
    }

    @Test
    void aMethodIsSkippedWhenItsLockIsTaken() {
        with(shop -> {
            shop.job();
            LockLease rival = shop.locks().lock("job").acquire().block(LIMIT);
            shop.job();
            assertThat(shop.calls()).isEqualTo(1);
            rival.release().block(LIMIT);
        });
    }

    @Test
    void theEndOfTheWaitIsThrown() {
        with(shop -> {
            LockLease rival = shop.locks().lock("hasty").acquire().block(LIMIT);
            assertThatThrownBy(shop::hasty).isInstanceOf(LockTimeoutException.class);
            rival.release().block(LIMIT);
        });
    }

    @Test
    void anInterruptOfTheWaitIsWhatTheMethodCanThrow() {
        with(shop -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(shop::waits)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(
                            "Shop.waits was not called: its thread was interrupted while it waited for lock 'waits'");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThatThrownBy(shop::waitsInterruptibly).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void aLossInterruptsTheMethodAndIsThrown() {
        with(shop -> {
            assertThatThrownBy(shop::lost).isInstanceOf(LockLostException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void aThreadThatMustNotBlockIsRefused() {
        with(shop -> assertThatThrownBy(() -> Mono.fromCallable(() -> shop.sell("tea"))
                        .subscribeOn(Schedulers.parallel())
                        .block(LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("must not block"));
    }

    @Test
    void aResultThatGoesOnAfterTheReleaseIsAnError() {
        with(shop -> {
            assertThat(shop.<String>generic(() -> "done")).isEqualTo("done");
            assertThatThrownBy(() -> shop.<Mono<String>>generic(() -> Mono.just("later")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("goes on after the release");
            StreamingBody body = new StreamingBody();
            assertThatThrownBy(() -> shop.<Object>generic(() -> ResponseEntity.ok(body)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has returned a StreamingBody, which goes on after the release");
        });
    }

    @Test
    void twoProxiesTakeOneLock() {
        runner.withBean(DefaultAdvisorAutoProxyCreator.class)
                .run(context -> assertThat(context.getBean(Shop.class).print()).isEqualTo("printed"));
    }

    record Diary(List<String> lines, CountDownLatch ran) {}

    static class Books {

        private final Diary diary;

        Books(Diary diary) {
            this.diary = diary;
        }

        @Transactional
        @Locked("account")
        public void transfer() {
            diary.lines().add("transfer");
        }

        @Scheduled(fixedRate = 10)
        @Locked(value = "nightly", minHoldTime = "1m", maxHoldTime = "2m", skipWhenTaken = true)
        public void nightly() {
            diary.lines().add("nightly");
        }

        @Scheduled(fixedRate = 10)
        public void tick() {
            diary.ran().countDown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {

        @Bean
        Diary diary() {
            return new Diary(new ArrayList<>(), new CountDownLatch(5));
        }

        @Bean
        PlatformTransactionManager transactions(LockClient locks, Diary diary) {
            return new AbstractPlatformTransactionManager() {
                private void note(String step) {
                    boolean held =
                            locks.election("account").leader().hasElement().block(LIMIT);
                    diary.lines().add(step + (held ? ", held" : ", free"));
                }

                @Override
                protected Object doGetTransaction() {
                    return new Object();
                }

                @Override
                protected void doBegin(Object transaction, TransactionDefinition definition) {
                    note("begin");
                }

                @Override
                protected void doCommit(DefaultTransactionStatus status) {
                    note("commit");
                }

                @Override
                protected void doRollback(DefaultTransactionStatus status) {
                    note("rollback");
                }
            };
        }
    }

    @Test
    void theTransactionIsCommittedBeforeTheRelease() {
        runner.withUserConfiguration(Transactions.class).withBean(Books.class).run(context -> {
            context.getBean(Books.class).transfer();
            assertThat(context.getBean(Diary.class).lines()).containsExactly("begin, held", "transfer", "commit, held");
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Schedule {}

    @Test
    void aScheduledMethodRunsOncePerPeriod() {
        runner.withUserConfiguration(Transactions.class, Schedule.class)
                .withBean(Books.class)
                .run(context -> {
                    Diary diary = context.getBean(Diary.class);
                    assertThat(diary.ran().await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(diary.lines()).containsOnlyOnce("nightly");
                });
    }
}
