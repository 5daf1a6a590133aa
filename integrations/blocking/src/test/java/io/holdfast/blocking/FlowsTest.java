package io.holdfast.blocking;

import static io.holdfast.blocking.Store.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockException;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Many threads use blocking locks while leases are lost and threads are interrupted at random. */
@Timeout(300)
class FlowsTest {

    private static final int NAMES = 20;

    /** A waiter that is left behind is forgotten after half a lease: that must come after the limit. */
    private static final LockOptions LONG =
            Store.OPTIONS.toBuilder().leaseDuration(Duration.ofSeconds(60)).build();

    private static final LockOptions PATIENT =
            LONG.toBuilder().waitTimeout(Duration.ofSeconds(60)).build();
    private static final LockOptions HASTY =
            LONG.toBuilder().waitTimeout(Duration.ofMillis(5)).build();

    private Store store;
    private final Map<String, Account> accounts = new HashMap<>();
    private final Map<LockLease, String> atWork = new ConcurrentHashMap<>();
    private final Set<String> taken = ConcurrentHashMap.newKeySet();
    private final ExecutorService thieves = Executors.newFixedThreadPool(2);
    private final Map<Flow, Thread> flows = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Throwable> broken = new ConcurrentLinkedQueue<>();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger timeouts = new AtomicInteger();
    private final AtomicInteger interrupts = new AtomicInteger();
    private final AtomicInteger successes = new AtomicInteger();

    /** Keeps the token of the last reader, and refuses the write of any other. */
    private static final class Account {

        private long token;
        private int balance;
        private int written;

        synchronized @Nullable Integer read(long reader) {
            if (reader < token) {
                return null;
            }
            token = reader;
            return balance;
        }

        synchronized boolean write(long writer, int value) {
            if (writer != token) {
                return false;
            }
            balance = value;
            written++;
            return true;
        }
    }

    FlowsTest() {
        for (int i = 0; i < NAMES; i++) {
            accounts.put("a" + i, new Account());
        }
    }

    /** What one thread does. */
    private final class Flow implements Runnable {

        private final Random random;

        /** How often the test has interrupted this thread; guarded by this. */
        private int interrupted;

        private boolean isOver;

        Flow(long seed) {
            random = new Random(seed);
        }

        synchronized void interrupt(Thread thread) {
            if (!isOver) {
                interrupted++;
                thread.interrupt();
            }
        }

        private synchronized int end() {
            isOver = true;
            return interrupted;
        }

        @Override
        public void run() {
            flows.put(this, Thread.currentThread());
            boolean isSeen = false;
            boolean isLost = false;
            try {
                call(0, NAMES);
                successes.incrementAndGet();
            } catch (InterruptedException interrupt) {
                isSeen = true;
                interrupts.incrementAndGet();
            } catch (LockLostException lost) {
                isLost = true;
                losses.incrementAndGet();
            } catch (LockTimeoutException timeout) {
                timeouts.incrementAndGet();
            } catch (Throwable failure) {
                broken.add(failure);
            }
            int sent = end();
            flows.remove(this);
            boolean isFlagged = Thread.interrupted();
            if (sent == 0 && (isFlagged || isSeen)) {
                broken.add(new AssertionError("an interrupt that the test has not sent, flag " + isFlagged));
            }
            if (sent > 0 && !isFlagged && !isSeen && !isLost) {
                broken.add(new AssertionError("an interrupt of the test was swallowed"));
            }
        }

        private void call(int depth, int below) throws Exception {
            String name = "a" + random.nextInt(below);
            BlockingLock lock = store.locks.lock(name).with(random.nextInt(4) == 0 ? HASTY : PATIENT);
            switch (random.nextInt(4)) {
                case 0 -> {
                    try (BlockingLease held = lock.acquire()) {
                        work(name, held.lease(), depth);
                    }
                }
                case 1 -> {
                    var tried = lock.tryAcquire();
                    if (tried.isPresent()) {
                        try (BlockingLease held = tried.get()) {
                            work(name, held.lease(), depth);
                        }
                    }
                }
                default -> lock.withLock(lease -> work(name, lease, depth));
            }
        }

        private @Nullable Void work(String name, LockLease lease, int depth) throws Exception {
            if (depth == 0) {
                atWork.put(lease, name);
            }
            try {
                if (random.nextInt(40) == 0) {
                    thieves.execute(() -> takeAway(lease));
                    LossReason unused = lease.onLoss()
                            .timeout(LIMIT, Mono.empty())
                            .toFuture()
                            .get();
                }
                if (!isUpdated(accounts.get(name), lease.fencingToken()) && lease.isValid() && !isTaken(lease)) {
                    broken.add(new AssertionError("two holders of " + name));
                }
                if (depth < 2 && random.nextBoolean()) {
                    int number = Integer.parseInt(name.substring(1));
                    if (number > 0 && random.nextBoolean()) {
                        call(depth + 1, number); // a lower one, so that no two threads wait in a circle
                    } else {
                        store.locks.lock(name).withLock(again -> work(name, again, depth + 1));
                    }
                }
            } finally {
                atWork.remove(lease);
            }
            return null;
        }

        private boolean isUpdated(Account account, long token) throws InterruptedException {
            Integer balance = account.read(token);
            if (random.nextInt(20) == 0) {
                Thread.sleep(0, 1); // only a point where an interrupt ends the work
            }
            Thread.onSpinWait();
            return balance != null && account.write(token, balance + 1);
        }
    }

    private Thread chaos() {
        return new Thread(() -> {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            while (!Thread.currentThread().isInterrupted()) {
                List<LockLease> leases = new ArrayList<>(atWork.keySet());
                if (!leases.isEmpty() && random.nextInt(3) == 0) {
                    takeAway(leases.get(random.nextInt(leases.size())));
                }
                List<Map.Entry<Flow, Thread>> running = new ArrayList<>(flows.entrySet());
                if (!running.isEmpty() && random.nextInt(20) == 0) {
                    Map.Entry<Flow, Thread> one = running.get(random.nextInt(running.size()));
                    one.getKey().interrupt(one.getValue());
                }
                LockSupport.parkNanos(1_000);
            }
        });
    }

    /** The leases of a run share one hold, so another one may have been hit. */
    private boolean isTaken(LockLease lease) {
        long token = lease.fencingToken();
        int others = store.hasRuns ? 64 : 0;
        return LongStream.rangeClosed(token - others, token + others)
                .anyMatch(it -> taken.contains(lease.lockName() + " " + it));
    }

    private void takeAway(LockLease lease) {
        // First: the next holder may come before this one is told.
        taken.add(lease.lockName() + " " + lease.fencingToken());
        try {
            store.takeAway(lease);
        } catch (LockException | IllegalStateException interrupted) {
            // the end of the test
        }
    }

    private void run(boolean hasRuns, int number, ExecutorService threads) throws Exception {
        store = new Store(hasRuns);
        Thread chaos = chaos();
        chaos.start();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            all.add(threads.submit(new Flow(i)));
        }
        for (Future<?> one : all) {
            one.get(120, TimeUnit.SECONDS);
        }
        chaos.interrupt();
        chaos.join();
        for (ExecutorService one : List.of(threads, thieves)) {
            one.shutdown();
            assertThat(one.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        }

        System.out.printf(
                "%d flows: %d done, %d lost, %d interrupted, %d timed out%n",
                number, successes.get(), losses.get(), interrupts.get(), timeouts.get());
        assertThat(broken).isEmpty();
        accounts.values().forEach(account -> assertThat(account.balance).isEqualTo(account.written));
        assertThat(List.of(losses.get(), interrupts.get(), timeouts.get(), successes.get()))
                .allMatch(times -> times > 0);
        // Not by a scheduler: what is left, and a scheduler that is dead, are two findings.
        long begun = System.nanoTime();
        while (!store.backend.contents().isEmpty() && System.nanoTime() - begun < LIMIT.toNanos()) {
            Thread.sleep(10);
        }
        assertThat(store.backend.contents()).as("left by %s", store.client).isEmpty();
        for (int i = 0; i < 2 * Schedulers.DEFAULT_POOL_SIZE; i++) { // each worker in turn
            Mono.delay(Duration.ofMillis(1)).block(LIMIT);
        }
        store.client.close().block(LIMIT);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoHundredThreadsLoseNoUpdateAndLeaveNoLockAndNoInterrupt(boolean hasRuns) throws Exception {
        run(hasRuns, 10_000, Executors.newFixedThreadPool(200));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tenThousandVirtualThreadsLoseNoUpdateAndLeaveNoLockAndNoInterrupt(boolean hasRuns) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads need Java 21");
        run(hasRuns, 10_000, (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
    }
}
