package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Peer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Cycles in flight: each lane runs one after another, without a pause, until {@link #close}. Lanes of a peer that blocks have a thread
 * each; the others have none.
 */
public final class Lanes implements AutoCloseable {

    private static final Duration STOP_LIMIT = Duration.ofSeconds(60);

    private final Peer peer;
    private final Count cycles;
    private final Waits waits;
    private final Mono<Void> whileHolding;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final CountDownLatch running;

    /** Written by close. */
    private volatile boolean isStopping;

    private Lanes(Peer peer, Count cycles, Waits waits, Mono<Void> whileHolding, int lanes) {
        this.peer = peer;
        this.cycles = cycles;
        this.waits = waits;
        this.whileHolding = whileHolding;
        running = new CountDownLatch(lanes);
    }

    /**
     * Starts one lane for each name.
     *
     * @param peer the peer, which the caller closes
     * @param names the names of the locks; a contended lock has one name many times
     * @param cycles counts the ends of cycles
     */
    public static Lanes start(Peer peer, List<String> names, Count cycles, Mono<Void> whileHolding) {
        return start(peer, names, cycles, new Waits(), whileHolding);
    }

    static Lanes start(Peer peer, List<String> names, Count cycles, Waits waits, Mono<Void> whileHolding) {
        waits.restart();
        names.stream().distinct().forEach(peer::prepare);
        Lanes lanes = new Lanes(peer, cycles, waits, whileHolding, names.size());
        for (String name : names) {
            if (peer.isBlocking()) {
                lanes.startThread(name);
            } else {
                lanes.subscribe(name);
            }
        }
        return lanes;
    }

    /** One lock for all lanes. */
    public static List<String> oneName(String name, int lanes) {
        return Collections.nCopies(lanes, name);
    }

    /** The error that ended a lane, if any. */
    public @Nullable Throwable failure() {
        return failure.get();
    }

    /** The latch owns the subscription, which ends by itself after {@link #close} or a failure. */
    private void subscribe(String name) {
        long[] begun = new long[1]; // cycles of a lane follow each other
        var unused = Mono.defer(() -> {
                    begun[0] = System.nanoTime();
                    return peer.cycle(name, whileHolding);
                })
                .doOnSuccess(nothing -> ended(begun[0]))
                .repeat(() -> !isStopping)
                .doFinally(signal -> running.countDown())
                .subscribe(nothing -> {}, this::failed);
    }

    private void startThread(String name) {
        Thread thread = new Thread(() -> cycleUntilStopped(name), "lane-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void cycleUntilStopped(String name) {
        try {
            while (!isStopping) {
                long begun = System.nanoTime();
                Object unused = peer.cycle(name, whileHolding).block();
                ended(begun);
            }
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            running.countDown();
        }
    }

    private void ended(long begunNanos) {
        cycles.increment();
        waits.cycleEnded(begunNanos);
    }

    private void failed(Throwable error) {
        boolean unused = failure.compareAndSet(null, error);
    }

    /** No lane begins another cycle. */
    public void stopSoon() {
        isStopping = true;
    }

    /** Waits for the end of running cycles. */
    @Override
    public void close() {
        stopSoon();
        try {
            if (!running.await(STOP_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException(
                        "%d lanes still run after %s".formatted(running.getCount(), STOP_LIMIT));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
