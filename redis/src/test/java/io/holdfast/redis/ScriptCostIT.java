package io.holdfast.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/**
 * How long the server runs each script, by the number of waiters: the server's own measure, without network and client.
 * The test compares the lower quartile of many calls, since other work of the machine only ever adds to a call. It
 * compares only one size with another, never with a number of microseconds. The number of commands inside a script does
 * not depend on the machine at all.
 */
class ScriptCostIT {

    private static final List<Integer> SIZES = List.of(1, 10, 100, 1_000, 10_000);
    private static final int ROUNDS = 40;

    /** How many more calls a longer queue may need: its tail is in a sorted set and a hash. */
    private static final int OF_A_LONG_QUEUE = 4;

    /** From 10 waiters to 10 000, a linear script would cost a thousand times as much. */
    private static final double MOST = 4;

    private Store store;
    private RedisLockBackend backend;
    private final Disposable.Composite watches = Disposables.composite();
    private final Deque<LockClaim> queue = new ArrayDeque<>();

    @BeforeEach
    void start() {
        store = Store.start("--slowlog-log-slower-than", "0", "--slowlog-max-len", "50000");
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        watches.dispose();
        Store.end(backend);
        store.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void noScriptCostsMoreThanTheLogarithmOfTheWaiters(LockKind kind) {
        LockKey key = LockKey.of(kind, "orders");
        LockClaim holder = Store.claim(key, Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        Map<String, List<Cost>> curve = new LinkedHashMap<>();
        for (int size : SIZES) {
            enqueue(key, size - queue.size());
            List<String> steps = new ArrayList<>();
            String reset = store.redis().slowlogReset();
            assertThat(reset).isEqualTo("OK");
            for (int round = 0; round < ROUNDS; round++) {
                holder = round(key, holder, steps);
            }
            assertThat(queue).hasSize(size);
            costs(steps)
                    .forEach((step, cost) ->
                            curve.computeIfAbsent(step, it -> new ArrayList<>()).add(cost));
        }

        print(kind, curve);
        assertThat(curve)
                .allSatisfy((step, costs) -> assertThat(
                                costs.get(SIZES.size() - 1).micros())
                        .as("us of '%s' with %s waiters: %s", step, SIZES, costs)
                        .isLessThan((long) (MOST * Math.max(5, ofTen(costs).micros()))));
        assertThat(curve)
                .allSatisfy(
                        (step, costs) -> assertThat(costs.get(SIZES.size() - 1).calls())
                                .as("calls inside '%s' with %s waiters: %s", step, SIZES, costs)
                                .isLessThanOrEqualTo(ofTen(costs).calls() + OF_A_LONG_QUEUE));
    }

    private static Cost ofTen(List<Cost> costs) {
        return costs.get(SIZES.indexOf(10));
    }

    /** Otherwise the measure would show nothing. */
    @Test
    void aScriptThatReadsTheWholeQueueIsFoundOut() {
        List<Long> micros = new ArrayList<>();
        for (int size : List.of(10, 10_000)) {
            IntStream.range(0, size).forEach(n -> store.redis().zadd("queue", n, "waiter " + n));
            String reset = store.redis().slowlogReset();
            assertThat(reset).isEqualTo("OK");
            List<String> steps = new ArrayList<>();
            String body = "return #redis.call('ZRANGE', KEYS[1], 0, -1)";
            String sha = store.redis().scriptLoad(body);
            for (int round = 0; round < ROUNDS; round++) {
                Long count = store.redis().evalsha(sha, ScriptOutputType.INTEGER, "queue");
                assertThat(count).isEqualTo(size);
                steps.add("linear");
            }
            micros.add(requireNonNull(costs(steps).get("linear")).micros());
        }
        assertThat(micros.get(1))
                .as("us with 10 and 10 000 waiters: %s", micros)
                .isGreaterThan((long) (MOST * Math.max(5, micros.get(0))));
    }

    /** The attempts of a quorum have a token floor. */
    @Test
    void aFirstAttemptWithATokenFloorCostsAFreeMutexNoMoreCommands() {
        LockKey key = LockKey.of(LockKind.MUTEX, "orders");
        List<String> steps = new ArrayList<>();
        String reset = store.redis().slowlogReset();
        assertThat(reset).isEqualTo("OK");
        long floor = 0;
        for (int round = 0; round < ROUNDS; round++) {
            LockClaim claim = Store.claim(key, Waiting.NONE).withTokenFloor(floor);
            LockAttempt.Acquired grant = (LockAttempt.Acquired) Store.answer(backend.tryAcquire(claim));
            steps.add("acquire with a floor");
            assertThat(grant.fencingToken()).isGreaterThanOrEqualTo(floor);
            floor = grant.fencingToken() + 1_000_000;
            assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
            steps.add("release");
        }
        assertThat(costs(steps))
                .allSatisfy((step, cost) -> assertThat(cost.calls()).isEqualTo(3));
    }

    /** Makes each kind of call once; afterwards there are as many waiters as before. */
    private LockClaim round(LockKey key, LockClaim holder, List<String> steps) {
        LockClaim free = Store.claim(LockKey.of(key.kind(), "another"), Waiting.QUEUE);
        assertThat(Store.answer(backend.tryAcquire(free))).isInstanceOf(LockAttempt.Acquired.class);
        steps.add("acquire, free");
        assertThat(Store.answer(backend.release(free))).isEqualTo(Ownership.HELD);
        steps.add("release, without waiters");
        LockClaim come = enqueued(key);
        steps.add("acquire, to the end of the queue");
        attempt(queue.getFirst().withAttempt(2));
        steps.add("attempt of the first");
        attempt(come.withAttempt(2));
        steps.add("attempt of the last");
        assertThat(Store.answer(backend.release(queue.removeLast().withAttempt(2))))
                .isEqualTo(Ownership.NOT_HELD);
        steps.add("release of a waiter");
        enqueued(key);
        steps.add("acquire, to the end, after an attempt");
        LockClaim heir = queue.removeFirst();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        steps.add("release, hand-off, after an attempt");
        assertThat(Store.answer(backend.renew(heir))).isInstanceOf(Renewal.Held.class);
        steps.add("renew");
        enqueued(key);
        steps.add("acquire, to the end of the queue");
        LockClaim next = queue.removeFirst();
        assertThat(Store.answer(backend.release(heir.withAttempt(2)))).isEqualTo(Ownership.HELD);
        steps.add("release, hand-off");
        assertThat(Store.answer(backend.renew(next))).isInstanceOf(Renewal.Held.class);
        steps.add("renew");
        return next;
    }

    @CanIgnoreReturnValue
    private LockClaim enqueued(LockKey key) {
        LockClaim claim = watched(key);
        attempt(claim);
        queue.addLast(claim);
        return claim;
    }

    private LockClaim watched(LockKey key) {
        LockClaim claim = Store.claim(key, Waiting.QUEUE);
        watches.add(backend.watch(claim).subscribe());
        return claim;
    }

    private void attempt(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Queued.class);
    }

    private void enqueue(LockKey key, int count) {
        List<LockClaim> claims =
                IntStream.range(0, count).mapToObj(n -> watched(key)).toList();
        queue.addAll(claims);
        assertThat(Store.answer(Flux.fromIterable(claims)
                        .flatMapSequential(backend::tryAcquire, 128)
                        .filter(LockAttempt.Queued.class::isInstance)
                        .count()))
                .isEqualTo(count);
    }

    /**
     * The cost of a step at the server.
     *
     * @param micros the lower quartile
     * @param calls the median of the commands inside the script
     */
    private record Cost(long micros, long calls) {

        static Cost of(List<Call> calls) {
            return new Cost(
                    sorted(calls, Call::micros).get(calls.size() / 4),
                    sorted(calls, Call::inside).get(calls.size() / 2));
        }

        private static List<Long> sorted(List<Call> calls, Function<Call, Long> figure) {
            return calls.stream().map(figure).sorted().toList();
        }
    }

    /** One script call. */
    private record Call(long micros, long inside) {}

    /**
     * Returns the cost of each step, from the server's log of the last script calls, which are in the order of the
     * steps.
     */
    private Map<String, Cost> costs(List<String> steps) {
        List<Call> calls = calls();
        assertThat(calls).hasSize(steps.size());
        Map<String, List<Call>> byStep = new LinkedHashMap<>();
        for (int i = 0; i < calls.size(); i++) {
            byStep.computeIfAbsent(steps.get(i), it -> new ArrayList<>()).add(calls.get(i));
        }
        Map<String, Cost> costs = new LinkedHashMap<>();
        byStep.forEach((step, all) -> costs.put(step, Cost.of(all)));
        return costs;
    }

    /**
     * Reads the log, which has the newest entry first, and the commands of a script before the script: each ends before
     * it does.
     */
    private List<Call> calls() {
        List<Object> log = new ArrayList<>(store.redis().slowlogGet(50_000));
        Collections.reverse(log);
        List<Call> calls = new ArrayList<>();
        long inside = 0;
        for (Object entry : log) {
            List<?> parts = (List<?>) entry;
            String command = String.valueOf(((List<?>) parts.get(3)).get(0));
            if (command.toLowerCase(Locale.ROOT).equals("evalsha")) {
                calls.add(new Call((Long) parts.get(2), inside));
                inside = 0;
            } else {
                inside++;
            }
        }
        return calls;
    }

    private static void print(LockKind kind, Map<String, List<Cost>> curve) {
        System.out.printf("[holdfast] script us, and calls inside, %s, with waiters %s%n", kind, SIZES);
        curve.forEach((step, costs) -> System.out.printf(
                "[holdfast] | %s | %s | %s%n",
                step,
                costs.stream().map(Cost::micros).toList(),
                costs.stream().map(Cost::calls).toList()));
    }
}
