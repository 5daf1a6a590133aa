package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.lettuce.core.ScriptOutputType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
 * How long the server is at each script, by the number of waiters: the server's own measure, without network and client. The lower
 * quartile of many calls is compared, since what else the machine does only ever adds to a call; and only one size with another, never with
 * a number of microseconds.
 */
class ScriptCostIT {

    private static final List<Integer> SIZES = List.of(1, 10, 100, 1_000, 10_000);
    private static final int ROUNDS = 40;

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
        Map<String, List<Long>> curve = new LinkedHashMap<>();
        for (int size : SIZES) {
            enqueue(key, size - queue.size());
            ClientOverRedis.eventually(() -> !store.redis().pubsubChannels().isEmpty());
            List<String> steps = new ArrayList<>();
            String reset = store.redis().slowlogReset();
            assertThat(reset).isEqualTo("OK");
            for (int round = 0; round < ROUNDS; round++) {
                holder = round(key, holder, steps);
            }
            assertThat(queue).hasSize(size);
            quartiles(steps)
                    .forEach((step, micros) ->
                            curve.computeIfAbsent(step, it -> new ArrayList<>()).add(micros));
        }

        print(kind, curve);
        int ten = SIZES.indexOf(10);
        assertThat(curve)
                .allSatisfy((step, micros) -> assertThat(micros.get(SIZES.size() - 1))
                        .as("us of '%s' with %s waiters: %s", step, SIZES, micros)
                        .isLessThan((long) (MOST * Math.max(5, micros.get(ten)))));
    }

    /** Else the measure would show nothing. */
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
            micros.add(quartiles(steps).get("linear"));
        }
        assertThat(micros.get(1))
                .as("us with 10 and 10 000 waiters: %s", micros)
                .isGreaterThan((long) (MOST * Math.max(5, micros.get(0))));
    }

    /** Each kind of call once, after which there are as many waiters as before. */
    private LockClaim round(LockKey key, LockClaim holder, List<String> steps) {
        LockClaim free = Store.claim(LockKey.of(key.kind(), "another"), Waiting.QUEUE);
        assertThat(Store.answer(backend.tryAcquire(free))).isInstanceOf(LockAttempt.Acquired.class);
        steps.add("acquire, free");
        assertThat(Store.answer(backend.release(free))).isEqualTo(Ownership.HELD);
        steps.add("release, nobody waits");
        LockClaim come = enqueued(key);
        steps.add("acquire, to the end of the queue");
        look(queue.getFirst());
        steps.add("look of the first");
        look(come);
        steps.add("look of the last");
        assertThat(Store.answer(backend.release(queue.removeLast()))).isEqualTo(Ownership.NOT_HELD);
        steps.add("release of a waiter");
        enqueued(key);
        steps.add("acquire, to the end of the queue");
        LockClaim heir = queue.removeFirst();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        steps.add("release, hand-off");
        assertThat(Store.answer(backend.renew(heir))).isInstanceOf(Renewal.Held.class);
        steps.add("renew");
        return heir;
    }

    @CanIgnoreReturnValue
    private LockClaim enqueued(LockKey key) {
        LockClaim claim = watched(key);
        look(claim);
        queue.addLast(claim);
        return claim;
    }

    private LockClaim watched(LockKey key) {
        LockClaim claim = Store.claim(key, Waiting.QUEUE);
        watches.add(backend.watch(claim).subscribe());
        return claim;
    }

    private void look(LockClaim claim) {
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

    /** Of each step, from the server's log of the last script calls, which are in the order of the steps. */
    private Map<String, Long> quartiles(List<String> steps) {
        List<Long> micros = new ArrayList<>();
        for (Object entry : store.redis().slowlogGet(50_000)) {
            List<?> parts = (List<?>) entry;
            String command = String.valueOf(((List<?>) parts.get(3)).get(0));
            if (command.toLowerCase(Locale.ROOT).equals("evalsha")) {
                micros.add(0, (Long) parts.get(2));
            }
        }
        assertThat(micros).hasSize(steps.size());
        Map<String, List<Long>> byStep = new LinkedHashMap<>();
        for (int i = 0; i < micros.size(); i++) {
            byStep.computeIfAbsent(steps.get(i), it -> new ArrayList<>()).add(micros.get(i));
        }
        Map<String, Long> quartiles = new LinkedHashMap<>();
        byStep.forEach((step, all) ->
                quartiles.put(step, all.stream().sorted().toList().get(all.size() / 4)));
        return quartiles;
    }

    private static void print(LockKind kind, Map<String, List<Long>> curve) {
        System.out.printf("[holdfast] script us, %s, with waiters %s%n", kind, SIZES);
        curve.forEach((step, micros) -> System.out.printf("[holdfast] | %s | %s%n", step, micros));
    }
}
