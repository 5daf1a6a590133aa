package io.holdfast.proof.soak;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.ReactiveLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The work of the client process: the same kinds of cycles at a steady rate. Beside them run holders that renew, candidates, and clients that open
 * and close.
 */
final class Mix {

    /** The number of lock names that are used repeatedly. */
    private static final int STANDING_NAMES = 50;

    /** The highest number of cycles at a time. */
    private static final int MOST_AT_ONCE = 64;

    /** The number of ticks in a round, which has each kind of cycle in its share. */
    private static final int ROUND = 20;

    private static final int PERMITS = 5;
    private static final int HOLDERS = 6;
    private static final String COVETED = "coveted";
    private static final Duration IMPATIENCE = Duration.ofMillis(15);
    private static final Duration SHORT_HOLD = Duration.ofMillis(50);
    private static final Duration LONG_HOLD = Opened.LEASE.multipliedBy(2);
    private static final Duration TERM = Duration.ofSeconds(3);
    private static final Duration BETWEEN_VISITS = Duration.ofSeconds(5);
    private static final Duration AFTER_AN_ERROR = Duration.ofMillis(200);

    private final SoakOrder order;
    private final Tally tally;
    private final Leaks leaks;
    private final List<LockClient> clients;
    private final LockClient handsOver;
    private final AtomicLong visits = new AtomicLong();
    private final AtomicInteger underWay = new AtomicInteger();

    /** Written by the thread that samples. */
    private volatile boolean isResting;

    /**
     * Makes a mix, but does not start it.
     *
     * @param clients the clients, which use locks in turn, so that they contend at the back end
     * @param handsOver a client that hands mutexes over inside this process
     */
    Mix(SoakOrder order, Tally tally, Leaks leaks, List<LockClient> clients, LockClient handsOver) {
        this.order = order;
        this.tally = tally;
        this.leaks = leaks;
        this.clients = clients;
        this.handsOver = handsOver;
    }

    /** Runs until the caller disposes the result. */
    Disposable start() {
        Disposable.Composite all = Disposables.composite();
        all.add(Flux.interval(Duration.ofNanos(1_000_000_000L / order.rate()))
                .onBackpressureDrop()
                .flatMap(this::counted, MOST_AT_ONCE)
                .subscribe());
        all.add(again(holdFor(clients.get(0).lock(COVETED), SHORT_HOLD)).subscribe());
        for (int i = 0; i < HOLDERS; i++) {
            all.add(again(holdFor(clients.get(i % clients.size()).lock("held-" + i), LONG_HOLD))
                    .subscribe());
        }
        for (LockClient client : clients) {
            Mono<Void> candidate =
                    client.election("leader").lead(lease -> Mono.delay(TERM)).then();
            all.add(again(candidate).subscribe());
        }
        all.add(again(Mono.delay(BETWEEN_VISITS).then(Mono.defer(this::visit))).subscribe());
        return all;
    }

    /** Counts errors, and continues after them. */
    private Mono<Void> again(Mono<Void> work) {
        return work.onErrorResume(
                        error -> failed(error).then(Mono.delay(AFTER_AN_ERROR)).then())
                .repeat()
                .then();
    }

    private static Mono<Void> holdFor(ReactiveLock lock, Duration time) {
        return lock.withLock(Mono.delay(time)).then();
    }

    /**
     * Begins no more cycles, and waits for those that are under way, so that the sample does not include their memory. The holders and the candidates
     * stay.
     *
     * @param within the longest wait; after it, this method returns even if cycles are under way
     */
    void rest(Duration within) throws InterruptedException {
        isResting = true;
        long start = System.nanoTime();
        while (underWay.get() > 0 && System.nanoTime() - start < within.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** Starts cycles again after a {@link #rest}. */
    void goOn() {
        isResting = false;
    }

    private Mono<Void> counted(long tick) {
        if (isResting) {
            return Mono.empty();
        }
        underWay.incrementAndGet();
        return Mono.defer(() -> cycle(tick)).onErrorResume(this::failed).doFinally(unused -> {
            underWay.decrementAndGet();
            tally.cycle();
            leaks.cycle();
        });
    }

    private Mono<Void> failed(Throwable error) {
        return Mono.fromRunnable(() -> {
            if (error instanceof LockLostException) {
                tally.lost();
            } else {
                tally.error();
            }
        });
    }

    private Mono<Void> cycle(long tick) {
        long round = tick / ROUND;
        // Each kind of cycle changes its client, also where the number of clients divides a round.
        LockClient client = clients.get((int) ((tick + round) % clients.size()));
        String name = "standing-" + tick % STANDING_NAMES;
        String fresh = Fresh.name(order.name(), tick);
        return switch ((int) (tick % ROUND)) {
            case 0, 1, 2, 3, 4 -> byHand(client.lock(name));
            case 5, 6, 7, 8 -> scoped(client.lock(name));
            case 9, 10 -> scoped(client.lock(fresh));
            case 11 ->
                order.target() == Target.REDLOCK || round % 2 == 0
                        ? scoped(client.readWriteLock(fresh).writeLock())
                        : scoped(client.semaphore(fresh, PERMITS).permits(2));
            case 12 ->
                client.lock(COVETED).acquire().timeout(IMPATIENCE, Mono.empty()).flatMap(LockLease::release);
            case 13 -> client.lock(COVETED).tryAcquire().flatMap(LockLease::release);
            case 14 -> scoped(client.readWriteLock("shared-" + round % PERMITS).readLock());
            case 15 -> scoped(client.readWriteLock("shared-" + round % PERMITS).writeLock());
            case 16 ->
                order.target() == Target.REDLOCK
                        ? scoped(client.lock(name))
                        : scoped(client.semaphore("permits", PERMITS).permits(1 + (int) (round % 3)));
            case 17, 18 -> scoped(handsOver.lock("local-" + round % 2));
            default ->
                client.all(client.lock(name), client.lock("second-" + name)).withLock(Mono.empty());
        };
    }

    private Mono<Void> byHand(ReactiveLock lock) {
        return Mono.defer(() -> {
            long start = System.nanoTime();
            return lock.acquire()
                    .doOnNext(lease -> tally.acquired(System.nanoTime() - start))
                    .flatMap(LockLease::release);
        });
    }

    private Mono<Void> scoped(ReactiveLock lock) {
        return Mono.defer(() -> {
            long start = System.nanoTime();
            return lock.withLock(Mono.fromRunnable(() -> tally.acquired(System.nanoTime() - start)));
        });
    }

    /** Opens a client, uses it and closes it. */
    private Mono<Void> visit() {
        String fresh = Fresh.name(order.name() + "-visit", visits.incrementAndGet());
        return Mono.usingWhen(
                Mono.fromCallable(() -> Opened.open(order.target(), order.servers(), false))
                        .subscribeOn(Schedulers.boundedElastic()),
                opened -> byHand(opened.locks().lock(fresh))
                        .then(scoped(opened.locks().readWriteLock("shared-0").readLock()))
                        .then(holdFor(opened.locks().lock("visited"), SHORT_HOLD)),
                Opened::close);
    }
}
