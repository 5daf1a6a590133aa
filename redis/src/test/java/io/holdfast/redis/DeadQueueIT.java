package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * Thousands of waiters with a dead client. The first release that meets them takes them out of the queue, once and in
 * portions, and they keep their places.
 */
class DeadQueueIT {

    private static final int BATCHES = 8;
    private static final int CYCLES = 40;

    private Store store;
    private RedisLockBackend backend;
    private final List<Disposable> watches = new ArrayList<>();

    @BeforeEach
    void start() {
        store = Store.start("--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000");
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        watches.forEach(Disposable::dispose);
        Store.end(backend);
        store.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void deadWaitersCostTheLivingNothingAfterTheFirstPass(LockKind kind) {
        LockKey alone = key(kind, "without");
        LockClaim holder = heldBefore(kind, 3_000);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        passedOver(holder.key());
        cycle(alone);
        cycle(holder.key());

        Cost without = Cost.HIGHEST;
        Cost behind = Cost.HIGHEST;
        for (int i = 0; i < BATCHES; i++) { // in turn, so that other work of the machine meets both
            without = without.least(costOfACycle(alone));
            behind = behind.least(costOfACycle(holder.key()));
            assertThat(store.calls("hmget")).as("no call reads waiters").isZero();
        }

        System.out.printf("[holdfast] %s, per cycle: %s, behind 3 000 dead waiters %s%n", kind, without, behind);
        assertThat(behind.calls())
                .as("calls inside the scripts, %s without dead waiters", without.calls())
                .isLessThanOrEqualTo(without.calls() * 3 / 2); // however many waiters are set aside
        assertThat(behind.micros())
                .as("us, %s without dead waiters", without.micros())
                .isLessThan(Math.max(2 * without.micros(), without.micros() + 80));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void deadWaitersAreReadInPortionsAndTheLivingOneBehindThemIsServed(LockKind kind) throws InterruptedException {
        LockClaim holder = heldBefore(kind, 10_000);
        LockClaim living = Store.claim(holder.key(), Waiting.QUEUE);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(living).subscribe(signals::add);
        assertThat(Store.answer(backend.tryAcquire(living))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        assertThat(store.redis().slowlogReset()).isEqualTo("OK");

        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);

        int attempts = 1;
        boolean isServed = false;
        for (WatchSignal signal = signals.poll(10, TimeUnit.SECONDS); !isServed; ) {
            assertThat(signal).isNotNull();
            isServed = signal instanceof WatchSignal.Granted
                    || Store.answer(backend.tryAcquire(living.withAttempt(++attempts))) instanceof LockAttempt.Acquired;
            signal = isServed ? signal : signals.poll(10, TimeUnit.SECONDS);
        }
        long longest = longestMicros();
        System.out.printf(
                "[holdfast] %s, behind 10 000: served by attempt %d, longest call %d us%n", kind, attempts, longest);
        assertThat(attempts).as("the first pass is cut into portions").isBetween(5, 40);
        assertThat(Store.waiting(store.redis(), Store.holderKey(holder.key()))).isZero();
        watch.dispose();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void deadWaitersGetTheirPlacesBackWithAnAttempt(LockKind kind) {
        LockKey key = key(kind, "orders");
        LockClaim holder = Store.claim(key, Waiting.NONE);
        Store.answer(backend.tryAcquire(holder));
        List<LockClaim> unreachable = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            unreachable.add(Store.claim(key, Waiting.QUEUE)); // not watched, so without a channel
            assertThat(Store.answer(backend.tryAcquire(unreachable.get(i)))).isInstanceOf(LockAttempt.Queued.class);
        }
        List<String> order = queue(key);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        passedOver(key);
        LockClaim next = Store.claim(key, Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(next))).isInstanceOf(LockAttempt.Acquired.class);
        LockClaim late = Store.claim(key, Waiting.QUEUE);
        assertThat(Store.answer(backend.tryAcquire(late))).isInstanceOf(LockAttempt.Queued.class);

        unreachable.forEach(it ->
                assertThat(Store.answer(backend.tryAcquire(it.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class));

        order.add(late.id());
        assertThat(queue(key)).containsExactlyElementsOf(order);
        for (LockClaim one : unreachable) {
            assertThat(Store.answer(backend.release(one))).isEqualTo(Ownership.NOT_HELD);
        }
        Store.answer(backend.release(late));
        Store.answer(backend.release(next));
        assertThat(store.keys()).containsExactly(Store.counterKey(key));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void waitersThatWereSetAsideAreReleasedLikeOthers(LockKind kind) {
        LockKey key = key(kind, "orders");
        LockClaim holder = heldBefore(kind, 0);
        LockClaim aside = Store.claim(key, Waiting.QUEUE);
        Store.answer(backend.tryAcquire(aside));
        Store.answer(backend.release(holder));
        passedOver(key);
        assertThat(Store.waiters(store.redis(), Store.holderKey(key))).isEmpty();
        assertThat(store.redis().hexists(Store.entries(Store.holderKey(key)), aside.id()))
                .isTrue();

        assertThat(Store.answer(backend.release(aside))).isEqualTo(Ownership.NOT_HELD);

        assertThat(store.keys())
                .as("no tombstone: the server had seen the attempt")
                .containsExactly(Store.counterKey(key));
    }

    /** The key of the waiters' entries never expires on a lock that always has waiters. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void deadWaitersAreForgottenWhenOthersQueue(LockKind kind) {
        LockKey key = key(kind, "orders");
        LockClaim holder = heldBefore(kind, 0);
        String waiters = Store.entries(Store.holderKey(key));
        String word = kind == LockKind.SEMAPHORE ? "semaphore:1/1" : "-";
        for (int i = 0; i < 40; i++) {
            store.redis().hset(waiters, "dead " + i, "30000 - 0 gone %s abc 1 %016d %<016d".formatted(word, 1_000 + i));
        }
        List<LockClaim> queued = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            queued.add(Store.claim(key, Waiting.QUEUE));
            watches.add(backend.watch(queued.get(i)).subscribe());
            assertThat(Store.answer(backend.tryAcquire(queued.get(i)))).isInstanceOf(LockAttempt.Queued.class);
        }
        assertThat(Store.waiting(store.redis(), Store.holderKey(key))).isEqualTo(60);
        // One of 128 joins looks for some; which of them depends on the server's clock.
        for (int i = 0; i < 3_000 && dead(waiters).size() >= 20; i++) {
            LockClaim another = Store.claim(key, Waiting.QUEUE);
            watches.add(backend.watch(another).subscribe());
            Store.answer(backend.tryAcquire(another));
            Store.answer(backend.release(another));
        }
        assertThat(dead(waiters)).as("left of 40").hasSizeLessThan(20);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
    }

    private List<String> dead(String waiters) {
        return store.redis().hkeys(waiters).stream()
                .filter(id -> id.startsWith("dead"))
                .toList();
    }

    /** Holds the lock, with this many waiters of a dead client behind it. */
    private LockClaim heldBefore(LockKind kind, int dead) {
        LockKey key = key(kind, "orders");
        LockClaim holder = Store.claim(key, Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        RedisLockBackend dying = store.backend();
        Long queued = Store.answer(Flux.range(0, dead)
                .flatMap(
                        n -> {
                            LockClaim waiter = Store.claim(key, Waiting.QUEUE);
                            watches.add(dying.watch(waiter).subscribe());
                            return dying.tryAcquire(waiter);
                        },
                        128)
                .filter(LockAttempt.Queued.class::isInstance)
                .count());
        assertThat(queued).isEqualTo(dead);
        Store.end(dying);
        long end = serverSeconds() + 2; // no waiter has just sent an attempt
        eventually(
                () -> serverSeconds() >= end && store.redis().pubsubChannels().size() == 1);
        return holder;
    }

    private Cost costOfACycle(LockKey key) {
        String reset = store.redis().configResetstat();
        assertThat(reset).isEqualTo("OK");
        for (int i = 0; i < CYCLES; i++) {
            cycle(key);
        }
        long scripts = 0;
        long micros = 0;
        long calls = 0;
        Matcher line = Pattern.compile("cmdstat_([^:]+):calls=(\\d+),usec=(\\d+)")
                .matcher(store.redis().info("commandstats"));
        while (line.find()) {
            if (line.group(1).equals("evalsha")) {
                scripts = Long.parseLong(line.group(2));
                micros = Long.parseLong(line.group(3));
            } else if (!line.group(1).startsWith("config")) {
                calls += Long.parseLong(line.group(2));
            }
        }
        assertThat(scripts).isEqualTo(2 * CYCLES);
        return new Cost(micros / CYCLES, calls / CYCLES);
    }

    /** What the scripts of an acquisition and its release cost the server: its time, and calls of commands inside. */
    private record Cost(long micros, long calls) {

        static final Cost HIGHEST = new Cost(Long.MAX_VALUE, Long.MAX_VALUE);

        /** Other work of the machine only ever adds time. */
        Cost least(Cost other) {
            return new Cost(Math.min(micros, other.micros), Math.min(calls, other.calls));
        }

        @Override
        public String toString() {
            return "%d us of server, %d calls inside".formatted(micros, calls);
        }
    }

    /**
     * Waits until the dead waiters are set aside: in portions, and not before a second has passed since their last
     * attempt.
     */
    private void passedOver(LockKey key) {
        eventually(() -> isFree(key) && Store.waiting(store.redis(), Store.holderKey(key)) == 0);
    }

    private boolean isFree(LockKey key) {
        LockClaim claim = Store.claim(key, Waiting.NONE);
        boolean isAcquired = Store.answer(backend.tryAcquire(claim)) instanceof LockAttempt.Acquired;
        Store.answer(backend.release(claim));
        return isAcquired;
    }

    private void cycle(LockKey key) {
        LockClaim claim = Store.claim(key, Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }

    private long serverSeconds() {
        return Long.parseLong(store.redis().time().get(0));
    }

    private long longestMicros() {
        return store.redis().slowlogGet(1_000).stream()
                .map(entry -> (List<?>) entry)
                .filter(entry ->
                        String.valueOf(entry.get(3)).toLowerCase(Locale.ROOT).contains("evalsha"))
                .mapToLong(entry -> (Long) entry.get(2))
                .max()
                .orElseThrow();
    }

    private List<String> queue(LockKey key) {
        return new ArrayList<>(Store.waiters(store.redis(), Store.holderKey(key)));
    }

    private static LockKey key(LockKind kind, String name) {
        return LockKey.of(kind, name);
    }
}
