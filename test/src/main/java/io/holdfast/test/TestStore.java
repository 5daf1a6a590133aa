package io.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockEvent;
import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LossReason;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.test.scheduler.VirtualTimeScheduler;

// Longer than other files: all that a test can ask of the store reads or changes the same few collections.

/**
 * The back end of the code under test. The locks are in memory: rivals reach the memory directly, and the code through
 * this class. This class knows all claims of the code, and carries out what the test wants.
 */
final class TestStore implements LockBackend {

    private record Grant(String lockName, long token) {}

    private record Write(String lockName, long token) {}

    private static final String RIVAL = "rival-of-the-test";
    private static final Duration LONGER_THAN_ANY_TEST = Duration.ofDays(3650);

    private final Scheduler clock;
    private final InMemoryLockBackend memory;
    private final Map<String, SeenClaim> claims = new ConcurrentHashMap<>();
    private final Map<Long, SeenClaim> byToken = new ConcurrentHashMap<>();
    private final Map<String, List<Consumer<? super Hold>>> onAcquired = new ConcurrentHashMap<>();

    /** Locks whose clients report events to this class. A client that other code made may not report. */
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** Claims that waited when their test ended. Their clients may stay open, but must not disturb the next test. */
    private final Set<String> leftBehind = ConcurrentHashMap.newKeySet();

    private final ConcurrentLinkedQueue<Grant> grants = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Write> writes = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Rival> rivals = new ConcurrentLinkedQueue<>();
    private final AtomicInteger rivalsSoFar = new AtomicInteger();

    /** Written by the test. */
    private volatile boolean unreachable;

    /** Written by the test. */
    private volatile Duration answerTime = Duration.ZERO;

    TestStore(Scheduler clock) {
        this.clock = clock;
        memory = InMemoryLockBackend.create(clock);
    }

    // Requests of the code under test.

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.defer(() -> {
            if (leftBehind.contains(claim.id())) {
                return Mono.error(new LockBackendException(
                        claim.key().name(), "the test that waited for this lock has ended", false, null));
            }
            SeenClaim seen = seen(claim);
            if (seen.isFrozen()) {
                return Mono.just(new LockAttempt.Acquired(seen.token(), claim.lease()));
            }
            return answered(claim, memory.tryAcquire(claim))
                    .doOnNext(answer -> attempted(seen, claim, answer))
                    .doFinally(end -> seen.delivered(this::behindTheHandOver));
        });
    }

    private void attempted(SeenClaim seen, LockClaim claim, LockAttempt answer) {
        if (answer instanceof LockAttempt.Acquired acquired) {
            granted(seen, acquired.fencingToken());
        } else if (claim.waiting() == Waiting.NONE && !seen.isHeld()) {
            ended(seen); // the claim has left nothing behind
        }
    }

    private void granted(SeenClaim seen, long token) {
        if (!seen.granted(token, !isVirtual() && reported.contains(seen.lockName()))) {
            return;
        }
        byToken.put(token, seen);
        grants.add(new Grant(seen.lockName(), token));
        Hold hold = new Hold(this, seen);
        for (Consumer<? super Hold> callback : onAcquired.getOrDefault(seen.lockName(), List.of())) {
            try {
                callback.accept(hold);
            } catch (RuntimeException | AssertionError failure) {
                thrown.add(failure); // it fails the test, not the acquisition
            }
        }
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return renewed(claim, memory.renew(claim));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return renewed(claim, memory.adopt(claim, fencingToken));
    }

    private Mono<Renewal> renewed(LockClaim claim, Mono<Renewal> request) {
        return Mono.defer(() -> {
            SeenClaim seen = seen(claim);
            return seen.isFrozen()
                    ? Mono.just(new Renewal.Held(claim.lease()))
                    : answered(claim, request).doOnNext(answer -> {
                        if (answer instanceof Renewal.NotHeld) {
                            ended(seen);
                        }
                    });
        });
    }

    /** From now on the claim counts as given up, whatever the outcome of the request is. */
    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return Mono.defer(() -> {
            leftBehind.remove(claim.id());
            ended(seen(claim));
            return answered(claim, memory.release(claim));
        });
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.create(watch -> {
            SeenClaim seen = seen(claim);
            seen.watchedBy(watch);
            Disposable signals =
                    memory.watch(claim).subscribe(signal -> pass(signal, seen, watch), failure -> watch.error(failure));
            watch.onDispose(() -> {
                signals.dispose();
                seen.leftBy(watch);
            });
        });
    }

    private void pass(WatchSignal signal, SeenClaim seen, FluxSink<WatchSignal> watch) {
        if (unreachable) {
            return;
        }
        if (signal instanceof WatchSignal.Granted grant) {
            granted(seen, grant.fencingToken());
        }
        watch.next(signal);
        seen.delivered(this::behindTheHandOver);
    }

    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return Flux.defer(() -> unreachable ? Flux.error(unavailable(key.name())) : memory.holders(key));
    }

    @Override
    public Mono<Void> ping() {
        return Mono.defer(() -> unreachable
                ? Mono.error(unavailable(""))
                : Mono.delay(answerTime, clock).then(memory.ping()));
    }

    @Override
    public Set<LockFeature> features() {
        Set<LockFeature> features = EnumSet.copyOf(memory.features());
        features.remove(LockFeature.RUNS); // each claim has a hold of its own, so that a test can see and end it
        return features;
    }

    @Override
    public String name() {
        return "test";
    }

    /** Does nothing: other clients of the same test still use the back end. */
    @Override
    public Mono<Void> close() {
        return Mono.empty();
    }

    private <T> Mono<T> answered(LockClaim claim, Mono<T> request) {
        if (unreachable) {
            return Mono.error(unavailable(claim.key().name()));
        }
        Duration time = answerTime;
        return time.isZero() ? request : request.delayElement(time, clock);
    }

    private static LockBackendException unavailable(String lockName) {
        return new LockBackendException(
                lockName, "no lock server answers: the test has called TestLocks.unavailable()", true, null);
    }

    void happened(LockEvent event) {
        if (event instanceof LockEvent.AcquireStarted started) {
            reported.add(started.lockName());
        } else if (event instanceof LockEvent.Acquired acquired) {
            withToken(acquired.fencingToken()).ifPresent(it -> it.handedOver(this::aMomentLater));
        } else if (event instanceof LockEvent.Released released) {
            // within the least hold time, the client sends a renewal instead of a release
            withToken(released.fencingToken()).ifPresent(this::ended);
        }
    }

    /**
     * In virtual time, a client with {@code deliverOn} emits the lease in the next task: this task runs after that.
     * Outside of tasks, everything runs at once.
     */
    private void behindTheHandOver(Runnable task) {
        if (isVirtual()) {
            Disposable unused = clock.schedule(() -> clock.schedule(task));
        } else {
            task.run();
        }
    }

    /**
     * The emitting thread has this much time to subscribe to the work. If it is slower, the lease is lost before that.
     */
    private void aMomentLater(Runnable task) {
        Disposable unused = clock.schedule(task, 1, TimeUnit.MILLISECONDS);
    }

    private boolean isVirtual() {
        return clock instanceof VirtualTimeScheduler;
    }

    private Optional<SeenClaim> withToken(long token) {
        return Optional.ofNullable(byToken.get(token));
    }

    private SeenClaim seen(LockClaim claim) {
        SeenClaim seen = claims.computeIfAbsent(claim.id(), id -> new SeenClaim(claim));
        seen.asksAs(claim);
        return seen;
    }

    private void ended(SeenClaim seen) {
        seen.end();
        synchronized (this) {
            notifyAll();
        }
    }

    // Actions of the test.

    void unreachable(boolean isUnreachable) {
        unreachable = isUnreachable;
        if (!isUnreachable) {
            // Signals may have been lost.
            claims.values().stream()
                    .filter(it -> !it.isOver() && !it.isFrozen())
                    .forEach(it -> it.signal(new WatchSignal.Armed()));
        }
    }

    void answerTime(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("an answer takes no negative time, was " + time);
        }
        answerTime = time;
    }

    void onAcquired(String lockName, Consumer<? super Hold> callback) {
        onAcquired
                .computeIfAbsent(lockName, name -> new CopyOnWriteArrayList<>())
                .add(callback);
    }

    void wrote(String lockName, long token) {
        writes.add(new Write(lockName, token));
    }

    Hold held(String lockName) {
        List<SeenClaim> held = claims.values().stream()
                .filter(it -> it.isHeld() && it.lockName().equals(lockName))
                .toList();
        if (held.size() != 1) {
            throw new IllegalStateException("the code under test has %s of lock '%s', where one is needed: %s"
                    .formatted(counted(held.size(), "hold"), lockName, describe(lockName)));
        }
        return new Hold(this, held.get(0));
    }

    /** If the client does not report that it emits the lease, it gets the loss a second later. */
    void lose(SeenClaim claim, LossReason reason) {
        requireHold(claim);
        now(memory.release(claim.claim()));
        if (claim.lose(reason) && !isVirtual()) {
            Disposable unused = clock.schedule(() -> claim.handedOver(Runnable::run), 1, TimeUnit.SECONDS);
        }
    }

    void freeze(SeenClaim claim) {
        requireHold(claim);
        if (claim.freeze()) {
            now(memory.release(claim.claim()));
        }
    }

    private static void requireHold(SeenClaim claim) {
        if (!claim.isHeld()) {
            throw new IllegalStateException(
                    "the code under test does not hold lock '%s' with token %d any more: it was released or lost before"
                            .formatted(claim.lockName(), claim.token()));
        }
    }

    Rival rival(LockKey key, int permits) {
        String id = "%d@%s".formatted(rivalsSoFar.incrementAndGet(), RIVAL);
        LockClaim claim =
                LockClaim.first(key, id, LONGER_THAN_ANY_TEST, Waiting.NONE).withPermits(permits);
        if (now(memory.tryAcquire(claim)) instanceof LockAttempt.Acquired acquired) {
            Rival rival = new Rival(this, claim, acquired.fencingToken());
            rivals.add(rival);
            return rival;
        }
        throw new IllegalStateException(
                "lock '%s' cannot be held elsewhere now: %s. Make the rival before that, or freeze() or lose() the hold"
                        .formatted(key.name(), describe(key.name())));
    }

    void release(Rival rival) {
        now(memory.release(rival.claim()));
    }

    // Observations of the test.

    List<LockHolder> holders(String lockName) {
        return now(memory.inspector().inspect(lockName).collectList()).stream()
                .map(LockReport::holders)
                .flatMap(List::stream)
                .toList();
    }

    boolean isHeldByCode(String lockName) {
        return holders(lockName).stream().anyMatch(it -> !it.owner().equals(RIVAL));
    }

    int waiters(String lockName) {
        return (int) claims.values().stream()
                .filter(it -> it.isWaiting() && it.lockName().equals(lockName))
                .count();
    }

    List<Long> grants(String lockName) {
        return grants.stream()
                .filter(it -> it.lockName().equals(lockName))
                .map(Grant::token)
                .toList();
    }

    List<Long> written(String lockName) {
        return writes.stream()
                .filter(it -> it.lockName().equals(lockName))
                .map(Write::token)
                .toList();
    }

    /** Describes a lock, for the message of an assertion. */
    String describe(String lockName) {
        List<LockHolder> holders = holders(lockName);
        String held = holders.isEmpty()
                ? "it is free"
                : holders.stream()
                        .map(it -> "%s holds it with token %d"
                                .formatted(
                                        it.owner().equals(RIVAL) ? "a rival" : "the code under test",
                                        it.fencingToken()))
                        .collect(Collectors.joining(", "));
        String frozen = claims.values().stream()
                .filter(it -> it.isFrozen() && it.isHeld() && it.lockName().equals(lockName))
                .map(it -> ", a frozen lease with token %d believes to hold it".formatted(it.token()))
                .collect(Collectors.joining());
        return "%s%s; %s of the code under test; granted to it with tokens %s"
                .formatted(held, frozen, counted(waiters(lockName), "waiter"), grants(lockName));
    }

    /** Names the locks that the code under test waits for, for the message of an await; empty if there are none. */
    String waits() {
        return open().filter(SeenClaim::isWaiting)
                .map(SeenClaim::lockName)
                .distinct()
                .sorted()
                .map(name -> ": it waits for lock '%s' (%s%s)"
                        .formatted(name, describe(name), unreachable ? "; unavailable() is on" : ""))
                .collect(Collectors.joining());
    }

    static String counted(int count, String what) {
        return "%d %s%s".formatted(count, what, count == 1 ? "" : "s");
    }

    // The end of a test.

    /** Returns the claims that a test has left behind, after a time in which other threads may end them. */
    List<String> leftovers(Duration patience) {
        long giveUpNanos = System.nanoTime() + patience.toNanos();
        synchronized (this) {
            for (long left = patience.toMillis();
                    left > 0 && open().findAny().isPresent();
                    left = (giveUpNanos - System.nanoTime()) / 1_000_000) {
                try {
                    wait(left);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    break;
                }
            }
        }
        return open().filter(it -> !isOverAtStore(it))
                .map(TestStore::leftover)
                .sorted()
                .toList();
    }

    /** Whether it was exported, and no client has adopted it in time. A client that holds releases what it has lost. */
    private boolean isOverAtStore(SeenClaim claim) {
        LockClaim last = claim.claim();
        return claim.isHeld()
                && !claim.isFrozen()
                && now(memory.holders(last.key()).collectList()).stream()
                        .noneMatch(it -> it.claimId().equals(last.id()));
    }

    List<Throwable> thrown() {
        return List.copyOf(thrown);
    }

    private Stream<SeenClaim> open() {
        return claims.values().stream().filter(it -> !it.isOver());
    }

    private static String leftover(SeenClaim claim) {
        String name = claim.lockName();
        if (claim.isWaiting()) {
            return "lock '%s' is still waited for: dispose of the subscription that waits, or let its waitTimeout pass"
                    .formatted(name);
        }
        return claim.isFrozen()
                ? "lock '%s' is frozen with token %d, and work goes on under it: let it end, or dispose of its subscription"
                        .formatted(name, claim.token())
                : "lock '%s' is still held with token %d: let the work end, release the lease that acquire() gave, or dispose of the subscription"
                        .formatted(name, claim.token());
    }

    /** Forgets a test: the next one begins with a back end that answers and has no claims. */
    void reset() {
        unreachable = false;
        answerTime = Duration.ZERO;
        onAcquired.clear();
        List<SeenClaim> waiting = open().filter(SeenClaim::isWaiting).toList();
        waiting.forEach(it -> leftBehind.add(it.claim().id()));
        waiting.forEach(this::drop); // before their locks get free
        rivals.forEach(this::release);
        rivals.clear();
        claims.values().forEach(this::drop);
        claims.clear();
        byToken.clear();
        grants.clear();
        writes.clear();
        thrown.clear();
    }

    /** Also releases a claim that was released within its least hold time. */
    private void drop(SeenClaim left) {
        now(memory.release(left.claim()));
        boolean unused = left.lose(LossReason.NOT_HELD);
    }

    /** Returns the answer: the back end in memory answers at once. */
    @CanIgnoreReturnValue
    private static <T> T now(Mono<T> request) {
        List<T> answer = new ArrayList<>(1);
        Disposable unused = request.subscribe(answer::add);
        return answer.get(0);
    }
}
