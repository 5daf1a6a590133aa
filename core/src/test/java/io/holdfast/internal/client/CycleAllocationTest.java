package io.holdfast.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Bytes that the engine allocates in one uncontended cycle. They do not depend on how fast the machine is. */
class CycleAllocationTest {

    private static final int BATCH = 200;
    private static final int BATCHES = 40;

    // Each limit is a tenth above the value measured without the optimising compiler, which removes some objects.
    private static final long WITH_LOCK = 2_050;
    private static final long ACQUIRE_AND_RELEASE = 2_060;

    private final LockClient client = LockClient.create(new InstantBackend());

    @AfterEach
    void close() {
        Object unused = client.close().block(Duration.ofSeconds(5));
    }

    @Test
    void withLockStaysWithinItsBudget() {
        assertThat(perCycle(() -> {
                    Disposable unused =
                            client.lock("orders").withLock(Mono.empty()).subscribe();
                }))
                .isBetween(500L, WITH_LOCK);
    }

    @Test
    void acquireAndReleaseStayWithinTheirBudget() {
        assertThat(perCycle(() -> {
                    Disposable unused = client.lock("orders")
                            .acquire()
                            .flatMap(LockLease::release)
                            .subscribe();
                }))
                .isBetween(500L, ACQUIRE_AND_RELEASE);
    }

    /** Returns the least of several batches: other work of the JVM only adds bytes. */
    private static long perCycle(Runnable cycle) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int batch = 0; batch < BATCHES; batch++) {
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            for (int i = 0; i < BATCH; i++) {
                cycle.run();
            }
            long after = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            least = Math.min(least, (after - before) / BATCH);
        }
        System.out.printf("[holdfast] bytes per uncontended cycle of the engine: %,d%n", least);
        return least;
    }
}
