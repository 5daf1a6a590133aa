package io.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** An application of Spring Boot whose properties choose a server that does not run. JUnit runs the samples. */
class SpringTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @SpringBootTest(
            classes = Application.class,
            properties = {"holdfast.backend=redis", "holdfast.wait-timeout=1s", "spring.main.banner-mode=off"})
    @AutoConfigureTestLocks
    @TestMethodOrder(MethodOrderer.MethodName.class)
    abstract static class Sample {

        @Autowired
        TestLocks locks;

        @Autowired
        LockClient client;

        Mono<String> work() {
            return client.lock("stock/42")
                    .withLock(lease -> Mono.delay(Duration.ofMillis(10)).thenReturn("done"));
        }
    }

    static final class First extends Sample {

        @Test
        void a1ARivalHoldsTheLock() {
            Rival rival = locks.holdElsewhere("stock/42");
            // a property sets the wait timeout
            assertThatThrownBy(() -> work().block()).isInstanceOf(LockTimeoutException.class);
            rival.release();
            assertThat(work().block()).isEqualTo("done");
            locks.assertThat("stock/42").isFree().grants(1);
        }

        @Test
        void a2IsLost() {
            locks.onAcquired("stock/42", it -> it.lose(LossReason.NOT_HELD));
            assertThatThrownBy(() -> work().block()).isInstanceOf(LockLostException.class);
        }

        @Test
        void a3LeavesALock() {
            LockLease unused = client.lock("left").acquire().block();
        }

        @Test
        void a4StartsEmpty() {
            locks.assertThat("left").isFree();
            assertThat(client.lock("left").withLock(Mono.just("done")).block()).isEqualTo("done");
            assertThat(work().block()).isEqualTo("done");
        }

        @Test
        void a5IsHeldForTheLeastTime() {
            LockOptions once =
                    LockOptions.builder().minHoldTime(Duration.ofMinutes(5)).build();
            assertThat(client.lock("once")
                            .with(once)
                            .withLock(Mono.just("done"))
                            .block())
                    .isEqualTo("done");
            locks.assertThat("once").isHeld();
        }
    }

    /** Uses the same context as {@link First}. */
    static final class Second extends Sample {

        @Test
        void goesOn() {
            assertThat(work().block()).isEqualTo("done");
            assertThat(locks.client()
                            .lock("stock/42")
                            .withLock(Mono.just("own"))
                            .block())
                    .isEqualTo("own");
            assertThat(client.lock("once").withLock(Mono.just("done")).block()).isEqualTo("done");
        }
    }

    @Test
    void theApplicationsClientUsesTheBackEndOfTheTest() {
        Ran first = Ran.of(First.class);
        Ran second = Ran.of(Second.class);

        assertThat(first.failure("a3LeavesALock"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("lock 'left' is still held with token ");
        for (String test :
                new String[] {"a1ARivalHoldsTheLock", "a2IsLost", "a4StartsEmpty", "a5IsHeldForTheLeastTime"}) {
            assertThat(first.results().get(test).getThrowable()).as(test).isEmpty();
        }
        assertThat(second.results().get("goesOn").getThrowable()).isEmpty();
    }
}
