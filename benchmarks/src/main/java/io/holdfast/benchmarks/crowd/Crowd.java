package io.holdfast.benchmarks.crowd;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockQueueFullException;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The flows of several clients that want one lock. Each client counts its own waits. */
final class Crowd implements AutoCloseable {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);
    private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofMillis(1);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final int MOST_UNDER_WAY = 100_000;

    final LongAdder served = new LongAdder();
    final LongAdder gaveUp = new LongAdder();
    final LongAdder refused = new LongAdder();

    private final List<Histogram> waits = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final List<CountDownLatch> running = new ArrayList<>();
    private volatile boolean isStopping;

    private Crowd() {}

    /**
     * Starts flows that begin a cycle when the last one has ended.
     *
     * @param locks the lock, as each client has it
     * @param flows how many flows each client has
     * @param patience after this time every second flow gives up and begins again; null for never
     */
    static Crowd closed(List<ReactiveLock> locks, int flows, Mono<Void> hold, @Nullable Duration patience) {
        Crowd crowd = new Crowd();
        for (ReactiveLock lock : locks) {
            Histogram waits = crowd.newHistogram();
            ReactiveLock brief = patience == null
                    ? lock
                    : lock.with(LockOptions.builder().waitTimeout(patience).build());
            for (int flow = 0; flow < flows; flow++) {
                ReactiveLock wanted = flow % 2 == 0 ? lock : brief;
                crowd.run(Mono.defer(() -> crowd.cycle(wanted, System.nanoTime(), hold, waits))
                        .repeat(() -> !crowd.isStopping));
            }
        }
        return crowd;
    }

    /**
     * Starts a flow for each client at the times of a clock, whether earlier ones have ended or not. A wait begins at that time.
     *
     * @param perSecond how many cycles begin in a second, at all clients together
     */
    static Crowd open(List<ReactiveLock> locks, int perSecond, Mono<Void> hold) {
        Crowd crowd = new Crowd();
        long step = TimeUnit.SECONDS.toNanos(1) * locks.size() / perSecond;
        for (ReactiveLock lock : locks) {
            Histogram waits = crowd.newHistogram();
            long begin = System.nanoTime();
            crowd.run(Flux.interval(Duration.ofMillis(1))
                    .onBackpressureBuffer()
                    .takeWhile(tick -> !crowd.isStopping)
                    .concatMapIterable(tick -> crowd.due(begin, step, tick))
                    .flatMap(at -> crowd.cycle(lock, at, hold, waits), MOST_UNDER_WAY));
        }
        return crowd;
    }

    /** Returns the times of the clock that lie in a millisecond. */
    private List<Long> due(long begin, long step, long tick) {
        List<Long> times = new ArrayList<>();
        long from = TimeUnit.MILLISECONDS.toNanos(tick);
        long number = (from + step - 1) / step;
        for (long at = number * step; at < from + TimeUnit.MILLISECONDS.toNanos(1); at += step) {
            times.add(begin + at);
        }
        return times;
    }

    private Histogram newHistogram() {
        Histogram waits = new ConcurrentHistogram(LONGEST_NANOS, 3);
        this.waits.add(waits);
        return waits;
    }

    private Mono<Void> cycle(ReactiveLock lock, long begin, Mono<Void> hold, Histogram waits) {
        return lock.withLock(lease -> {
                    waits.recordValue(Math.max(0, Math.min(LONGEST_NANOS, System.nanoTime() - begin)));
                    served.increment();
                    return hold;
                })
                .onErrorResume(LockTimeoutException.class, late -> {
                    gaveUp.increment();
                    return Mono.empty();
                })
                .onErrorResume(LockQueueFullException.class, full -> {
                    refused.increment();
                    return Mono.delay(PAUSE_AFTER_REFUSAL).then();
                });
    }

    private void run(Flux<Void> flow) {
        CountDownLatch ended = new CountDownLatch(1);
        running.add(ended);
        // A first cycle that is answered at once must not keep the other flows from starting.
        var unused = flow.doFinally(signal -> ended.countDown()).subscribe(nothing -> {}, error -> {
            boolean isFirst = failure.compareAndSet(null, error);
            assert isFirst || failure.get() != null;
        });
    }

    void restart() {
        waits.forEach(Histogram::reset);
    }

    /** Returns the waits of all clients. */
    Histogram all() {
        Histogram all = new Histogram(LONGEST_NANOS, 3);
        waits.forEach(all::add);
        return all;
    }

    /** Returns the waits of each client. */
    List<Histogram> each() {
        return waits.stream().map(Histogram::copy).toList();
    }

    void requireNoFailure() {
        Throwable error = failure.get();
        if (error != null) {
            throw new IllegalStateException("a flow has failed", error);
        }
    }

    /** Waits for the end of running cycles. */
    @Override
    public void close() {
        isStopping = true;
        long end = System.nanoTime() + STOP_LIMIT.toNanos();
        try {
            for (CountDownLatch flow : running) {
                if (!flow.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    throw new IllegalStateException("a flow still runs after " + STOP_LIMIT);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the lock of each client. */
    static List<ReactiveLock> locks(List<LockClient> clients, Kind kind, String name) {
        return clients.stream().map(client -> kind.lock(client, name)).toList();
    }
}
