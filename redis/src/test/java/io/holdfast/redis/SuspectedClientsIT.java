package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockKey;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client that does not confirm a grant may have vanished. What the scripts do with its waiters, what that costs the
 * server, and which clients they leave alone. The test calls the scripts itself, so it decides when each client is silent.
 */
class SuspectedClientsIT {

    private static final int LEASE = 30_000;
    private static final LuaScript LOCK = LuaScript.load("lock");
    private static final LuaScript RENEW = LuaScript.load("renew");

    private Store store;
    private RedisClient listener;
    private LockKind kind = LockKind.MUTEX;
    private int claimMillis = 300;
    private int permits = 1;
    private final List<String> messages = new CopyOnWriteArrayList<>();

    /** The channels have a subscriber, as those of four clients have, whether they live or not. */
    @BeforeEach
    void start() {
        store = Store.start();
        listener = RedisClient.create(store.uri());
        StatefulRedisPubSubConnection<String, String> connection = listener.connectPubSub();
        connection.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void message(String channel, String message) {
                messages.add(channel + ": " + message);
            }
        });
        connection.sync().subscribe("X", "X{1f}", "Y", "V", "W");
    }

    @AfterEach
    void stop() {
        listener.shutdown();
        store.close();
    }

    @Test
    void clientsThatVanishTogetherCostNoReadOfTheQueue() {
        kind = LockKind.SEMAPHORE;
        permits = 100;
        long now = micros();
        long over = now - now % 2 - 1_000_000;
        for (int i = 0; i < 100; i++) {
            store.redis().zadd(key() + ":held", (double) (over + 2L * i), "h" + i);
            String entry = "semaphore:1/100 1 %d %d %d C%d".formatted(over - 500_000, LEASE, over - 500_000, i);
            store.redis().hset(Store.entries(key()), Map.of(" h" + i, entry, "+C" + i, "" + (over - 500_000)));
        }
        queue(10_000, "Y", now);
        reset();

        assertThat(acquire("y", "Y", 1)).startsWith(2L);

        assertThat(store.redis().zcard(key() + ":held")).as("holders").isEqualTo(100); // as many waiters were served
        assertThat(aside()).hasSize(100).contains("C0 0", "C99 0");
        assertThat(store.calls("zrange"))
                .as("once for each waiter that is served")
                .isLessThan(110);
    }

    /** The first answer, which brought the grant, may be lost. In a cluster, the hash tag of the channel may change meanwhile. */
    @ParameterizedTest
    @CsvSource({"MUTEX, X", "SEMAPHORE, X", "MUTEX, X{1f}", "SEMAPHORE, X{1f}"})
    void aRepeatedReleaseRemindsOfTheGrantInItsFirstAnswer(LockKind used, String channel) {
        kind = used;
        claimMillis = 30_000;
        acquire("h", "X", 1);
        acquire("x1", "X", 1);
        release("h", "X", 1);
        assertThat(messages).isEmpty();

        release("h", channel, 1);

        eventually(() -> messages.equals(List.of(channel + ": C x1")));
    }

    /** Its waiters have joined before the sharded subscription was in force. */
    @Test
    void aMemberThatLeavesUnderAnotherHashTagPassesTheGrantOn() {
        claimMillis = 30_000;
        acquire("h", "Y", 1);
        for (String id : List.of("m1", "m2", "m3")) {
            List<Object> unused = run(id, "A" + LEASE, "1 " + LEASE + " X client", "queue 0 " + claimMillis + " abc");
        }
        release("h", "Y", 1);

        List<Object> answer = run("m1", "R1", "X{1f}", claimMillis + " 0");

        assertThat(answer).hasSize(6).startsWith(0L).endsWith(2L, "m1\nm2\nm3");
    }

    /** A join of a mutex takes a way of its own. */
    @Test
    void aJoinUnderAnotherHashTagShowsThatTheClientLives() {
        claimMillis = 30_000;
        acquire("h", "Y", 1);
        acquire("x1", "X", 1);
        release("h", "Y", 1);
        assertThat(ends() % 2).as("not confirmed").isZero();

        acquire("x2", "X{1f}", 1);

        assertThat(ends() % 2).as("confirmed").isOne();
    }

    /** That its client lives does not show that the claim has its grant. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void aRepeatedReleaseRemindsOfTheGrantAlsoAfterAnotherCallOfItsClient(LockKind used) {
        kind = used;
        claimMillis = 30_000;
        acquire("h", "X", 1);
        acquire("x1", "X", 1);
        release("h", "X", 1);
        acquire("x2", "X", 1);

        release("h", "X", 1);

        eventually(() -> messages.equals(List.of("X: C x1")));
    }

    /** The client of a claim that handed its lease on gives back each grant that comes for that claim. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void aGrantThatIsGivenBackLateEndsNoAdoptedHold(LockKind used) {
        kind = used;
        acquire("x1", "X", 1);
        long token = (Long) acquire("x1", "X", 2).get(1);
        assertThat(run("x1", "D" + token, "X", "" + LEASE)).containsExactly(1L);

        giveBack("x1", "X", 2);
        acquire("x1", "X", 3);
        giveBack("x1", "X", 3);

        assertThat(acquire("y1", "Y", 1, "none")).first().isEqualTo(3L);
        assertThat(run("x1", "R1", "X", claimMillis + " 30000"))
                .as("its own release")
                .containsExactly(1L);
        assertThat(acquire("y2", "Y", 1, "none")).hasSize(1);
    }

    /** A grant that was lost though its client lives: the same as when it has vanished, until its next call. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void aClientThatConfirmsNoGrantIsPassedOverUntilItsNextCall(LockKind used) {
        kind = used;
        setAside(3);

        acquire("x3", "X", 2);
        release("y1", "Y", 2);

        assertThat(queued()).as("x1 holds").containsExactly("x2", "x3");
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void theEntriesOfWaitersThatGetTheirPlacesBackLastAsLongAsTheQueue(LockKind used) {
        kind = used;
        setAside(3);
        assertThat(store.redis().pexpire(Store.entries(key()), 20_000)).isTrue();

        acquire("x-other", "X", 1, "notify");

        assertThat(queued()).containsExactly("x1", "x2", "x3");
        assertThat(store.redis().pttl(Store.entries(key())) + 100)
                .isGreaterThanOrEqualTo(store.redis().pttl(key() + ":queue"));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void aRenewalForAShorterTimeIsNoSignThatAClientVanished(LockKind used) {
        kind = used;
        granted(3);
        assertThat(acquire("x0", "X", 2)).startsWith(1L);

        renew("x0", 50);
        over();
        acquire("y1", "Y", 2);

        assertThat(aside()).isEmpty();
        assertThat(queued()).doesNotContain("x1"); // the next one holds
    }

    /** The claim lost its turn. The other claims of the client keep theirs, and no later client passes them. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void anAttemptAfterTheGrantShowsThatTheClientLives(LockKind used) {
        kind = used;
        granted(3);
        acquire("x2", "X", 2);
        over();

        acquire("y1", "Y", 2);

        assertThat(aside()).isEmpty();
        assertThat(queued()).as("x1 holds").containsExactly("x2", "x3", "y1");
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void aWithdrawalGivesTheOtherClaimsOfItsClientTheirPlacesBack(LockKind used) {
        kind = used;
        setAside(3);

        release("x-other", "X", 1);

        assertThat(aside()).isEmpty();
        assertThat(queued()).containsExactly("x1", "x2", "x3");
    }

    /** In a cluster, the channel has a hash tag while its server has that slot. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aClientIsTrustedAlsoIfItsChannelHasAnotherHashTag(LockKind used) {
        kind = used;
        setAside(3);

        release("x-other", "X{1f}", 1);

        assertThat(aside()).isEmpty();
        assertThat(queued()).containsExactly("x1", "x2", "x3");
    }

    /** Its attempt was under way when the grant was pushed, and then it hangs: it is a holder, for its lease. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aClientThatHangsAfterAnAttemptHoldsForItsLease(LockKind used) {
        kind = used;
        claimMillis = 5_000;
        acquire("h", "Y", 1);
        acquire("x", "X", 1);
        acquire("y", "Y", 1);
        release("h", "Y", 1);
        assertThat(ends() % 2).as("pushed").isZero();
        assertThat(ends() - micros()).isLessThanOrEqualTo(1_000L * claimMillis);

        acquire("x", "X", 2);

        assertThat(ends() % 2).as("confirmed").isOne();
        assertThat(ends() - micros()).isGreaterThan(1_000L * LEASE - 10_000_000);
        assertThat(acquire("y", "Y", 2)).first().isEqualTo(2L);
    }

    @Test
    void aNewClaimDoesNotPassTheOthersOfItsClient() {
        setAside(3);
        acquire("y2", "Y", 1);
        acquire("y2", "Y", 2); // so the queue is not empty

        acquire("x-new", "X", 1);

        assertThat(queued()).containsExactly("x1", "x2", "x3", "y2", "x-new");
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"READ", "WRITE"})
    void placesComeBackInPortions(LockKind used) {
        kind = used;
        setAside(3_000);
        eventually(() -> {
            acquire("y" + micros(), "Y", 1, "none"); // goes on, if a run was cut short
            return queued().isEmpty();
        });
        reset();

        acquire("x-other", "X", 1, "notify");

        assertThat(queued()).hasSizeBetween(1_023, 1_024).startsWith("x1", "x2"); // the note may count
        assertThat(store.calls("hget")).isLessThan(10);
        for (int call = 0; call < 2; call++) {
            acquire("x-other", "X", 1, "notify");
        }
        assertThat(queued()).hasSize(3_000);
        assertThat(aside()).isEmpty();
    }

    @Test
    void aHandOffToALongQueueReadsAFewWaiters() {
        acquire("h", "X", 1);
        queue(10_000, "X", micros());
        store.redis().setrange(key(), 2, "1");
        reset();

        release("h", "X", 1);

        assertThat(queued()).hasSize(9_999);
        assertThat(store.calls("hmget")).isLessThan(3);
    }

    /** X has a grant that it has not confirmed, and waiters from x1 on; behind them is y1. */
    private void granted(int waiters) {
        acquire("h", "Y", 1);
        acquire("x0", "X", 1);
        acquire("x0", "X", 2);
        queueBehind(waiters, "X");
        acquire("y1", "Y", 1);
        acquire("y1", "Y", 2);
        release("h", "Y", 2);
        assertThat(queued()).hasSize(waiters + 1);
    }

    /** As above, and then y1 holds and the waiters of X are aside. */
    private void setAside(int waiters) {
        granted(waiters);
        over();
        eventually(() -> ((Number) acquire("y1", "Y", 2).get(0)).intValue() == 1);
        if (waiters < 1_024) {
            assertThat(queued()).isEmpty();
            assertThat(aside()).hasSize(waiters + 1); // and the note
        }
    }

    private void queueBehind(int waiters, String channel) {
        for (int i = 1; i <= waiters; i++) {
            acquire("x" + i, channel, 1);
        }
    }

    /** Writes the waiters as an attempt would. */
    private void queue(int count, String channel, long now) {
        Map<String, String> entries = new TreeMap<>();
        String entry = "%d - 0 %s %s abc 1 %d %4$d".formatted(LEASE, channel, word(), now);
        for (int i = 0; i < count; i++) {
            entries.put("w" + i, entry);
            store.redis().zadd(key() + ":queue", (double) (now + i), "w" + i);
        }
        store.redis().hset(Store.entries(key()), entries);
    }

    /** The answer to the first end may be lost, and with it the grant to the reader, whose client listens. */
    @Test
    void repeatedEndOfARunTellsTheNextReaderOfItsGrant() {
        kind = LockKind.WRITE;
        acquire("h", "X", 1);
        for (String writer : List.of("a", "b")) {
            run(writer, "A" + LEASE, "1 " + LEASE + " X c", "queue 0 300 abc");
        }
        run("r", "S" + LEASE, "1 " + LEASE + " X c", "queue 0 300 abc read");
        Object number = run("h", "R1", "X", "300 0").get(1);
        assertThat(run("c", "E" + number, "X", "300 2")).contains("r");

        assertThat(run("c", "E" + number, "X", "300 2")).containsExactly(1L);

        eventually(() -> messages.contains("X: C r"));
    }

    private void over() {
        eventually(() -> micros() > ends());
    }

    private long ends() {
        return isExclusive()
                ? Long.parseLong(store.redis().get(key()).substring(3, 19))
                : store.redis().zrangeWithScores(key() + ":held", -1, -1).stream()
                        .mapToLong(it -> (long) it.getScore())
                        .max()
                        .orElse(0);
    }

    private List<String> queued() {
        return Store.waiters(store.redis(), key());
    }

    private List<String> aside() {
        return store.redis().zrange(key() + ":aside", 0, -1);
    }

    private boolean isExclusive() {
        return kind != LockKind.SEMAPHORE;
    }

    /** The share that a claim wants, {@code -} for all. */
    private String word() {
        return isExclusive() ? "-" : "semaphore:1/" + permits;
    }

    @CanIgnoreReturnValue
    private List<Object> acquire(String id, String channel, int attempt) {
        return acquire(id, channel, attempt, "queue");
    }

    @CanIgnoreReturnValue
    private List<Object> acquire(String id, String channel, int attempt, String waiting) {
        return run(
                id,
                (isExclusive() ? attempt == 1 ? "A" : "a" : attempt == 1 ? "S" : "s") + LEASE,
                attempt + " " + LEASE + " " + channel + " -",
                "%s 0 %d abc".formatted(waiting, claimMillis) + (isExclusive() ? "" : ' ' + word()));
    }

    private void release(String id, String channel, int attempt) {
        List<Object> unused = run(id, "R" + attempt, channel, claimMillis + " 0");
    }

    private void giveBack(String id, String channel, int attempt) {
        release(id, channel, attempt);
    }

    @CanIgnoreReturnValue
    private List<Object> run(String... args) {
        return store.redis().eval(LOCK.body(), ScriptOutputType.MULTI, new String[] {key()}, args);
    }

    private void renew(String id, int millis) {
        String[] keys = isExclusive() ? new String[] {key()} : new String[] {key() + ":claims", key() + ":held"};
        List<Long> held = store.redis().eval(RENEW.body(), ScriptOutputType.MULTI, keys, id, "" + millis);
        assertThat(held).containsExactly(1L);
    }

    private String key() {
        return Store.holderKey(LockKey.of(kind, "orders"));
    }

    private void reset() {
        assertThat(store.redis().configResetstat()).isEqualTo("OK");
    }

    private long micros() {
        List<String> time = store.redis().time();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }
}
