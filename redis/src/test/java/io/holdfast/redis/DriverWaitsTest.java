package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/**
 * Tests the driver's lock that {@link DriverWaits} allows, from outside, since the driver keeps it private. Without
 * {@link DriverWaits} the exclusive part of this test never ends.
 */
class DriverWaitsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Object lock;
    private final Method increment;
    private final Method decrement;
    private final Method exclusive;

    DriverWaitsTest() throws ReflectiveOperationException {
        Class<?> type = Class.forName(DriverWaits.ENDPOINT_LOCK);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        lock = constructor.newInstance();
        increment = open(type.getDeclaredMethod("incrementWriters"));
        decrement = open(type.getDeclaredMethod("decrementWriters"));
        exclusive = open(type.getDeclaredMethod("doExclusive", Runnable.class));
    }

    private static Method open(Method method) {
        method.setAccessible(true);
        return method;
    }

    private void call(Method method, Object... arguments) {
        try {
            method.invoke(lock, arguments);
        } catch (InvocationTargetException e) {
            throw new CompletionException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** Acts as {@code DefaultEndpoint.write} does. */
    private void write() {
        try {
            call(increment);
        } finally {
            call(decrement);
        }
    }

    /** Acts as the event loop does, on a thread of its own: it may spin. */
    private CompletableFuture<Void> reconnect(Runnable meanwhile) {
        return CompletableFuture.runAsync(() -> call(exclusive, meanwhile), work -> {
            Thread loop = new Thread(work, "reconnects");
            loop.setDaemon(true);
            loop.start();
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void writerThatMeetsAReconnectOnlyWaits() {
        CountDownLatch isExclusive = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Void> reconnect = reconnect(() -> {
            isExclusive.countDown();
            await(end);
        });
        await(isExclusive);
        CompletableFuture<Thread> writer = new CompletableFuture<>();
        CompletableFuture<Void> written = CompletableFuture.runAsync(
                () -> {
                    writer.complete(Thread.currentThread());
                    write();
                },
                work -> {
                    var unused = Schedulers.parallel().schedule(work);
                });
        awaitParked(writer.join(), written);
        end.countDown();

        assertThat(written).as("the writer").succeedsWithin(PATIENCE);
        assertThat(reconnect).succeedsWithin(PATIENCE);
        assertThat(reconnect(() -> {})).as("the next reconnect").succeedsWithin(PATIENCE);
    }

    private static void awaitParked(Thread thread, CompletableFuture<?> end) {
        long begin = System.nanoTime();
        while (LockSupport.getBlocker(thread) == null && !end.isDone()) {
            assertThat(System.nanoTime() - begin).as("patience").isLessThan(PATIENCE.toNanos());
            Thread.onSpinWait();
        }
    }
}
