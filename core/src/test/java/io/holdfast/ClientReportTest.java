package io.holdfast;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockKey;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.scheduler.VirtualTimeScheduler;

/** A client reports its leases and its waiting acquisitions. */
class ClientReportTest {

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final InMemoryLockBackend backend = InMemoryLockBackend.create(time);
    private final LockClient locks = LockClient.builder(backend).timer(time).build();

    @AfterEach
    void dispose() {
        time.dispose();
    }

    private LockLease take(ReactiveLock lock) {
        return requireNonNull(lock.acquire().block(Duration.ofSeconds(10)));
    }

    @Test
    void holdsAndWaitsAreReportedWithTheirTimes() {
        LockLease first = take(locks.lock("stock/42"));
        time.advanceTimeBy(Duration.ofSeconds(2));
        LockLease second = take(locks.semaphore("connections", 5).permits(3));
        Disposable waiter = locks.readWriteLock("other").readLock().acquire().subscribe();
        Disposable waiting = locks.lock("stock/42").acquire().subscribe();
        time.advanceTimeBy(Duration.ofSeconds(3));

        ClientReport report = locks.report();

        assertThat(report.holdCount()).isEqualTo(3);
        assertThat(report.holds())
                .extracting(
                        ClientReport.Hold::lockName,
                        ClientReport.Hold::kind,
                        ClientReport.Hold::permits,
                        ClientReport.Hold::fencingToken,
                        ClientReport.Hold::held)
                .startsWith(
                        tuple("stock/42", LockKind.MUTEX, 1, first.fencingToken(), Duration.ofSeconds(5)),
                        tuple("connections", LockKind.SEMAPHORE, 3, second.fencingToken(), Duration.ofSeconds(3)));
        assertThat(report.holds().get(0).remaining()).isEqualTo(first.remaining());
        assertThat(report.holds().get(0).claimId())
                .isEqualTo(requireNonNull(backend.holders(LockKey.of(LockKind.MUTEX, "stock/42"))
                                .blockFirst(Duration.ofSeconds(10)))
                        .claimId());
        assertThat(report.waitCount()).isOne();
        assertThat(report.waits())
                .containsExactly(new ClientReport.Wait("stock/42", LockKind.MUTEX, 1, Duration.ofSeconds(3)));
        waiter.dispose();
        waiting.dispose();
    }

    @Test
    void releasedLeasesAndCancelledWaitsAreNotReported() {
        LockLease lease = take(locks.lock("stock/42"));
        Disposable waiter = locks.lock("stock/42").acquire().subscribe();
        waiter.dispose();
        lease.release().block(Duration.ofSeconds(10));

        assertThat(locks.report()).isEqualTo(new ClientReport(0, List.of(), 0, List.of()));
    }

    @Test
    void allAreCountedAndTheOldestAreNamed() {
        IntStream.range(0, ClientReport.MOST + 5)
                .mapToObj(number -> locks.lock("stock/" + number))
                .map(this::take)
                .forEach(lease -> assertThat(lease.isValid()).isTrue());

        ClientReport report = locks.report();

        assertThat(report.holdCount()).isEqualTo(ClientReport.MOST + 5);
        assertThat(report.holds())
                .hasSize(ClientReport.MOST)
                .first()
                .extracting(ClientReport.Hold::lockName)
                .isEqualTo("stock/0");
    }
}
