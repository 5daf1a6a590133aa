package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockKey;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How many entries of its keys a script reads and writes, by the number of waiters: the arguments of the commands inside, and the length of the ranges that
 * they read. The test calls the scripts itself, for waiters of two clients in turn, so no run is longer than one.
 */
class TouchedEntriesIT {

    private static final LuaScript LOCK = LuaScript.load("lock");
    private static final String LEASE = "30000";
    private static final int ROUNDS = 50;

    /** A call that sweeps reads 64 entries at most, and removes those that are out of date. */
    private static final long MOST = 200;

    private static final Pattern REST = Pattern.compile("\\.\\.\\. \\((\\d+) more arguments\\)");

    private Store store;
    private RedisClient listener;
    private LockKind kind = LockKind.MUTEX;
    private int ids;

    /** The clients of the waiters live: their channels have a subscriber. */
    @BeforeEach
    void start() {
        store = Store.start("--slowlog-log-slower-than", "0", "--slowlog-max-len", "5000");
        listener = RedisClient.create(store.uri());
        StatefulRedisPubSubConnection<String, String> connection = listener.connectPubSub();
        connection.sync().subscribe("X", "Y");
    }

    @AfterEach
    void stop() {
        listener.shutdown();
        store.close();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void noCallTouchesMoreEntriesWithMoreWaiters(LockKind used) {
        kind = used;
        Map<String, Long> few = touched(10);
        assertThat(store.redis().flushall()).isEqualTo("OK");
        ids = 0;
        Map<String, Long> many = touched(3_000);

        System.out.printf("[holdfast] entries touched by one call, %s: 10 waiters %s, 3 000 %s%n", kind, few, many);
        assertThat(many)
                .allSatisfy((step, entries) -> assertThat(entries)
                        .as("entries touched by '%s'; with 10 waiters %s", step, few.get(step))
                        .isLessThanOrEqualTo(MOST));
    }

    /** Otherwise the measure would show nothing. */
    @ParameterizedTest
    @EnumSource(names = "WRITE")
    void aScriptThatReadsTheWholeQueueIsFoundOut(LockKind used) {
        kind = used;
        acquire("h0", "X", "queue");
        queue(1_000);
        assertThat(entriesOf(() -> store.redis()
                        .eval(
                                "return #redis.call('ZRANGE', KEYS[1], 0, -1)",
                                ScriptOutputType.INTEGER,
                                key() + ":queue")))
                .isGreaterThan(MOST);
    }

    /** Waiters whose clients send no more attempts leave while others come: the dead are never many more than the living. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void waitersThatSendNoMoreAttemptsLeaveWhileOthersCome(LockKind used) {
        kind = used;
        acquire("h0", "X", "queue");
        String word = isExclusive() ? "-" : "semaphore:1/1";
        for (int i = 0; i < 500; i++) {
            store.redis().zadd(key() + ":queue", 1_000 + i, "dead" + i);
            store.redis()
                    .hset(key() + ":claims", "dead" + i, "%s - 0 X %s abc 1 %016d %016d".formatted(LEASE, word, i, i));
        }
        // Which attempts look for the dead is a matter of chance: about one of 128.
        for (int come = 0; come < 6_000 && dead() >= 250; come += 500) {
            queue(500);
        }
        assertThat(dead()).as("left of 500").isLessThan(250);
    }

    private long dead() {
        return store.redis().zrange(key() + ":queue", 0, -1).stream()
                .filter(id -> id.startsWith("dead"))
                .count();
    }

    @Test
    void joinsBehindALaterRunTouchAFewEntriesThoughAMemberHasLeft() {
        acquire("h0", "Y", "queue");
        List<String> members = IntStream.range(1, 7).mapToObj(n -> "m" + n).toList();
        members.forEach(id -> acquire(id, "X", "queue"));
        assertThat(release("h0", "Y")).isEqualTo(List.of(1L));
        assertThat(release("m3", "X")).isEqualTo(List.of(0L));
        long number = store.token(key()) - members.size() + 1;
        List<?> next = (List<?>) run("X", "E" + number, "X", "2000 2");
        assertThat(next).as("the run of those that are left").last().isEqualTo("m4\nm5\nm6");

        assertThat(entriesOf(() -> joins("a", 16))).isLessThanOrEqualTo(MOST);
    }

    /** It joins them by the longer way. */
    @Test
    void joinsInOneCallAreLookedUpOnceThoughTheServerKnowsOneOfThem() {
        acquire("h0", "Y", "queue");
        acquire("a15", "X", "queue");
        assertThat(store.redis().configResetstat()).isEqualTo("OK");

        joins("a", 16);

        assertThat(store.calls("hmget")).isEqualTo(1);
        assertThat(Store.waiting(store.redis(), key())).isEqualTo(16);
    }

    /** Returns the most entries that a call of each sort touches. */
    private Map<String, Long> touched(int waiters) {
        Map<String, Long> most = new LinkedHashMap<>();
        Deque<String> line = new ArrayDeque<>();
        String holder = "h0";
        acquire(holder, client(holder), "queue");
        line.addAll(queue(waiters));
        for (int round = 0; round < ROUNDS; round++) {
            String come = next();
            note(most, "join", () -> acquire(come, client(come), "queue"));
            line.addLast(come);
            note(most, "later attempt", () -> attempt(line.getLast(), 2));
            note(most, "refusal", () -> acquire(next(), "X", "queue:5"));
            note(most, "attempt that does not wait", () -> acquire(next(), "X", "none"));
            String withdrawn = line.removeLast();
            note(most, "withdrawal", () -> release(withdrawn, 2));
            String served = holder;
            note(most, "hand-off", () -> release(served, 1));
            holder = line.removeFirst();
            String last = next();
            note(most, "join", () -> acquire(last, client(last), "queue"));
            line.addLast(last);
        }
        return most;
    }

    private void note(Map<String, Long> most, String step, Supplier<?> call) {
        most.merge(step, entriesOf(call), Math::max);
    }

    private long entriesOf(Supplier<?> call) {
        assertThat(store.redis().slowlogReset()).isEqualTo("OK");
        Object unused = call.get();
        List<List<String>> commands = new ArrayList<>();
        for (Object entry : store.redis().slowlogGet(5_000)) {
            commands.add(((List<?>) ((List<?>) entry).get(3))
                    .stream().map(String::valueOf).toList());
        }
        return commands.stream()
                .filter(command -> !command.get(0).toLowerCase(Locale.ROOT).startsWith("eval")
                        && !command.get(0).equalsIgnoreCase("slowlog"))
                .mapToLong(this::entries)
                .sum();
    }

    /** How many entries the command names, or can answer. */
    private long entries(List<String> command) {
        String last = command.get(command.size() - 1);
        Matcher rest = REST.matcher(last);
        long named = rest.matches() ? command.size() - 2 + Long.parseLong(rest.group(1)) : command.size() - 1;
        return switch (command.get(0).toUpperCase(Locale.ROOT)) {
            case "ZRANGE", "LRANGE" -> range(command);
            case "ZRANGEBYLEX", "ZRANGEBYSCORE" ->
                command.contains("LIMIT") ? Math.min(answered(command), Long.parseLong(last)) : answered(command);
            case "HRANDFIELD", "ZRANDMEMBER" -> Long.parseLong(command.get(2));
            default -> named;
        };
    }

    private long range(List<String> command) {
        long from = Long.parseLong(command.get(2));
        long to = Long.parseLong(command.get(3));
        return from < 0 == to < 0 ? to - from + 1 : answered(command);
    }

    /** The length of the key: the range may have as many. */
    private long answered(List<String> command) {
        String key = command.get(1);
        return store.redis().type(key).equals("list")
                ? store.redis().llen(key)
                : store.redis().zcard(key);
    }

    @CanIgnoreReturnValue
    private List<String> queue(int count) {
        List<String> line = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            line.add(next());
            acquire(line.get(i), client(line.get(i)), "queue");
        }
        return line;
    }

    private String next() {
        return "w" + ids++;
    }

    private static String client(String id) {
        return Integer.parseInt(id.substring(1)) % 2 == 0 ? "X" : "Y";
    }

    @CanIgnoreReturnValue
    private Object acquire(String id, String client, String waiting) {
        return run(id, attempt(true) + LEASE, "1 %s %s %s".formatted(LEASE, client, client), words(waiting));
    }

    private Object attempt(String id, int attempt) {
        return run(
                id,
                attempt(false) + LEASE,
                "%d %s %s %s".formatted(attempt, LEASE, client(id), client(id)),
                words("queue"));
    }

    private Object release(String id, int attempt) {
        return run(id, "R" + attempt, client(id), "2000 0");
    }

    private Object release(String id, String client) {
        return run(id, "R1", client, "2000 0");
    }

    /** Sends first attempts in one call. */
    @CanIgnoreReturnValue
    private Object joins(String prefix, int count) {
        String[] keys = Collections.nCopies(count, key()).toArray(String[]::new);
        String[] args = IntStream.range(0, count)
                .boxed()
                .flatMap(n -> Stream.of(prefix + n, "A" + LEASE, "1 %s X X".formatted(LEASE), words("queue")))
                .toArray(String[]::new);
        return store.redis().eval(LOCK.body(), ScriptOutputType.MULTI, keys, args);
    }

    private String words(String waiting) {
        return waiting + " 0 2000 abc" + (isExclusive() ? "" : " semaphore:1/1");
    }

    private boolean isExclusive() {
        return kind != LockKind.SEMAPHORE;
    }

    private String attempt(boolean isFirst) {
        return isExclusive() ? isFirst ? "A" : "a" : isFirst ? "S" : "s";
    }

    private Object run(String... args) {
        List<Object> answer = store.redis().eval(LOCK.body(), ScriptOutputType.MULTI, new String[] {key()}, args);
        return answer;
    }

    private String key() {
        return Store.holderKey(LockKey.of(kind, "orders"));
    }
}
