package io.holdfast.blocking;

import static io.holdfast.blocking.Store.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.testkit.LeftoversExtension;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(30)
class HoldfastLockRegistryTest {

    private final Store store = new Store();
    private final HoldfastLockRegistry registry = HoldfastLockRegistry.of(store.locks, "orders/");

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("store", store.backend::contents);

    private LockLease rival() {
        return store.client.lock("orders/42").acquire().block(LIMIT);
    }

    @Test
    void aKeyIsTheEndOfALockName() throws Exception {
        assertThat(registry.<Boolean, RuntimeException>executeLocked(42, () -> store.isHeld("orders/42")))
                .isTrue();
        assertThat(store.isHeld("orders/42")).isFalse();
    }

    /** Otherwise equal keys would have different locks. */
    @Test
    void aKeyWithoutATextOfItsOwnIsRefused() {
        assertThatThrownBy(() -> registry.obtain(new byte[] {1}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("byte[] without a text of its own");
    }

    @Test
    @SuppressWarnings("LockNotBeforeTry") // a failure ends the test
    void aThreadMayLockAgainAndUnlocksAsOften() {
        registry.obtain(42).lock();
        assertThat(registry.obtain(42).tryLock()).isTrue();
        registry.obtain(42).unlock();
        assertThat(store.isHeld("orders/42")).isTrue();
        registry.obtain(42).unlock();
        assertThat(store.isHeld("orders/42")).isFalse();
        assertThatThrownBy(registry.obtain(42)::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void aLockThatIsTakenIsNotToBeHadInTime() throws Exception {
        LockLease rival = rival();
        Lock lock = registry.obtain(42);
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
        assertThat(lock.tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
        assertThatThrownBy(() -> registry.executeLocked(42, Duration.ofMillis(20), () -> {}))
                .isInstanceOf(TimeoutException.class);
        store.awaitWaiters("orders/42", 0);
        rival.release().block(LIMIT);
        assertThat(lock.tryLock(10, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
    }

    @Test
    @SuppressWarnings("LockNotBeforeTry") // a failure ends the test
    void lockWaitsInSpiteOfAnInterruptWhichStaysPending() throws Exception {
        LockLease rival = rival();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            registry.obtain(42).lock();
            interrupted.complete(Thread.currentThread().isInterrupted());
            registry.obtain(42).unlock();
        });
        waiter.start();
        store.awaitWaiters("orders/42", 1);
        waiter.interrupt();
        rival.release().block(LIMIT);
        assertThat(interrupted.get(10, TimeUnit.SECONDS)).isTrue();
        waiter.join();
    }

    @Test
    void anInterruptEndsAWaitThatAllowsIt() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(registry.obtain(42)::lockInterruptibly).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void unlockTellsTheLoss() throws Exception {
        Lock lock = registry.obtain(42);
        lock.lock();
        BlockingLease nested = store.locks.lock("orders/42").acquire();
        store.lose(nested.lease());
        assertThatThrownBy(nested::close).isInstanceOf(LockLostException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }
}
