package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import io.holdfast.testkit.server.TcpProxy;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** What an inspector reports and costs, and that it changes nothing. */
class RedisLockInspectorIT {

    /** The line of the Javadoc, with the default prefix. */
    private static final String ACL =
            "on nopass resetkeys ~holdfast:* resetchannels -@all +hello +auth +evalsha +eval +script|load +scan "
                    + "+info +time +get +exists +hmget +zcard +zcount +zrange +llen";

    private static final String LEASE = Printable.duration(Store.LEASE);

    private Store store;
    private RedisLockBackend backend;
    private RedisLockInspector inspector;
    private final Disposable.Composite watches = Disposables.composite();

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
        inspector = RedisLockBackend.builder(store.uri()).inspector();
    }

    @AfterEach
    void stop() {
        watches.dispose();
        Store.answer(inspector.close());
        Store.end(backend);
        store.close();
    }

    @Test
    void aConnectionThatIsDeadWithoutBeingClosedIsMadeAnew() {
        held(Store.claim("orders"));
        TcpProxy proxy = TcpProxy.inFrontOf(store.server);
        RedisURI uri = RedisURI.create(proxy.host(), proxy.port());
        uri.setTimeout(Duration.ofMillis(300));
        RedisLockInspector far = RedisLockBackend.builder(uri).inspector();
        assertThat(Store.answer(far.inspect("orders").collectList())).hasSize(1);

        proxy.dropOn(1, TcpProxy.Direction.values());
        assertThatThrownBy(() -> Store.answer(far.inspect("orders").collectList()))
                .isInstanceOf(LockBackendException.class);
        ClientOverRedis.eventually(
                () -> !Store.answer(far.inspect("orders").onErrorComplete().collectList())
                        .isEmpty());
        proxy.dropOn(2, TcpProxy.Direction.values());
        assertThatThrownBy(() -> Store.answer(far.servers().collectList())).isInstanceOf(LockBackendException.class);
        ClientOverRedis.eventually(() ->
                !Store.answer(far.servers().onErrorComplete().collectList()).isEmpty());
        Store.answer(far.close());
        proxy.close();
    }

    @Test
    void holderAndQueueOfAMutexAreReported() {
        LockClaim holder = held(Store.claim("orders"));
        LockClaim first = queued(Store.claim("orders", Waiting.QUEUE));
        LockClaim second = queued(Store.claim("orders", Waiting.QUEUE));
        held(Store.claim("others"));

        LockReport report = only("orders");

        assertThat(report.name()).isEqualTo("orders");
        assertThat(report.type()).isEqualTo(LockReport.Type.MUTEX);
        assertThat(report.isHeld()).isTrue();
        assertThat(report.holderCount()).isOne();
        LockHolder told = report.holders().get(0);
        assertThat(told.claimId()).isEqualTo(holder.id());
        assertThat(told.kind()).isEqualTo(LockKind.MUTEX);
        assertThat(told.details())
                .as("it never waited")
                .doesNotContainKey("channel")
                .containsEntry("lease", LEASE);
        assertThat(report.lastToken()).hasValue(told.fencingToken());
        assertThat(told.remaining().orElseThrow()).isBetween(Store.LEASE.minusSeconds(10), Store.LEASE);
        assertThat(told.held().orElseThrow()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
        assertThat(report.waiterCount()).isEqualTo(2);
        assertThat(report.waiters()).extracting(LockWaiter::claimId).containsExactly(first.id(), second.id());
        assertThat(report.waiters()).allSatisfy(waiter -> {
            assertThat(waiter.details())
                    .containsEntry("lease", LEASE)
                    .containsKey("last attempt")
                    .doesNotContainKey("stale")
                    .hasEntrySatisfying("channel", it -> assertThat(it).startsWith("holdfast:client:"));
            assertThat(waiter.kind()).isEqualTo(LockKind.MUTEX);
            assertThat(waiter.waiting().orElseThrow()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
        });
        assertThat(report.details()).isEmpty();
        assertThat(report.warnings()).isEmpty();
    }

    @Test
    void allKindsOfANameAreInTheAnswerToOneCommand() {
        held(Store.claim("orders"));
        LockClaim reader = held(Store.claim(LockKey.of(LockKind.READ, "orders"), Waiting.NONE));
        LockClaim another = held(Store.claim(LockKey.of(LockKind.READ, "orders"), Waiting.NONE));
        LockClaim writer = queued(Store.claim(LockKey.of(LockKind.WRITE, "orders"), Waiting.QUEUE));
        LockClaim permit = held(Store.claim(new LockKey(LockKind.SEMAPHORE, "orders", 1), Waiting.NONE));
        LockClaim next = queued(Store.claim(new LockKey(LockKind.SEMAPHORE, "orders", 1), Waiting.QUEUE));
        assertThat(next).isNotNull();
        List<LockReport> warmUp = reports("others");
        store.redis().configResetstat();

        List<LockReport> reports = reports("orders");

        assertThat(warmUp).isEmpty();
        assertThat(store.calls("evalsha")).isOne();
        assertThat(reports)
                .extracting(LockReport::type)
                .containsExactly(LockReport.Type.MUTEX, LockReport.Type.READ_WRITE, LockReport.Type.SEMAPHORE);
        LockReport shared = reports.get(1);
        assertThat(shared.holderCount()).isEqualTo(2);
        assertThat(shared.holders()).extracting(LockHolder::claimId).containsExactly(reader.id(), another.id());
        assertThat(shared.holders()).allSatisfy(holder -> {
            assertThat(holder.kind()).isEqualTo(LockKind.READ);
            assertThat(holder.held().orElseThrow()).isBetween(Duration.ZERO, Duration.ofSeconds(10));
            assertThat(holder.remaining().orElseThrow()).isBetween(Store.LEASE.minusSeconds(10), Store.LEASE);
            assertThat(holder.details()).containsEntry("lease", LEASE);
        });
        assertThat(shared.waiters()).singleElement().satisfies(waiter -> {
            assertThat(waiter.claimId()).isEqualTo(writer.id());
            assertThat(waiter.kind()).isEqualTo(LockKind.WRITE);
        });
        LockReport semaphore = reports.get(2);
        assertThat(semaphore.holders())
                .extracting(LockHolder::claimId, LockHolder::kind)
                .containsExactly(tuple(permit.id(), LockKind.SEMAPHORE));
    }

    @ParameterizedTest
    @EnumSource
    void sinceIsTheTimeOfTheGrantWithAnyFloorAndRenewals(LockKind kind) {
        long ahead = (serverMicros() / 1_000_000 + 3_600) * 1_000_000;
        LockClaim claim =
                new LockClaim(LockKey.of(kind, "orders"), "an id", Store.LEASE, Waiting.NONE, 1, ahead, 1, "");
        Instant before = Instant.ofEpochSecond(0, serverMicros() * 1_000);
        held(claim);
        Instant after = Instant.ofEpochSecond(0, serverMicros() * 1_000);
        LockHolder first = only("orders").holders().get(0);
        assertThat(Store.answer(backend.renew(claim))).isInstanceOf(Renewal.Held.class);
        held(new LockClaim(claim.key(), claim.id(), Store.LEASE, Waiting.NONE, 2, ahead + 7, 1, ""));
        LockHolder later = only("orders").holders().get(0);

        assertThat(first.fencingToken()).isEqualTo(ahead);
        assertThat(since(first)).isBetween(before, after);
        assertThat(later.fencingToken()).isEqualTo(ahead + 7);
        assertThat(since(later)).isEqualTo(since(first));
        assertThat(later.held().orElseThrow()).isGreaterThan(first.held().orElseThrow());
    }

    @ParameterizedTest
    @EnumSource
    void aWaiterThatWasHandedTheLockHoldsItSinceThen(LockKind kind) {
        LockKey key = LockKey.of(kind, "orders");
        LockKey excluding = LockKey.of(kind == LockKind.READ ? LockKind.WRITE : kind, "orders");
        LockClaim holder = held(Store.claim(excluding, Waiting.NONE));
        LockClaim waiter = queued(Store.claim(key, Waiting.QUEUE));
        Instant before = Instant.ofEpochSecond(0, serverMicros() * 1_000);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        Instant after = Instant.ofEpochSecond(0, serverMicros() * 1_000);

        assertThat(only("orders").holders()).singleElement().satisfies(heir -> {
            assertThat(heir.claimId()).isEqualTo(waiter.id());
            assertThat(heir.details().get("channel")).startsWith("holdfast:client:");
            assertThat(since(heir)).isBetween(before, after);
        });
    }

    @Test
    void interestIsCounted() {
        held(Store.claim("orders"));
        LockClaim interested = Store.claim("orders", Waiting.NOTIFY);
        watches.add(backend.watch(interested).subscribe());
        assertThat(Store.answer(backend.tryAcquire(interested))).isInstanceOf(LockAttempt.Contended.class);

        assertThat(only("orders").details()).containsEntry("want a hint", "1");
        assertThat(only("orders").waiterCount()).isZero();
    }

    @Test
    void aFreeLockHasOnlyItsLastTokenAndAScanSkipsIt() {
        LockClaim claim = Store.claim("orders");
        LockAttempt.Acquired acquired = (LockAttempt.Acquired) Store.answer(backend.tryAcquire(claim));
        Store.answer(backend.release(claim));

        LockReport report = only("orders");

        assertThat(report.isHeld()).isFalse();
        assertThat(report.holders()).isEmpty();
        assertThat(report.lastToken()).hasValue(acquired.fencingToken());
        assertThat(Store.answer(inspector.all().collectList())).isEmpty();
        assertThat(reports("never used")).isEmpty();
    }

    @Test
    void inspectingEndsNoHolderAndServesNoWaiter() {
        Duration lease = Duration.ofMillis(500);
        for (LockKind kind : LockKind.values()) {
            LockKey key = LockKey.of(kind, "lock of " + kind);
            held(LockClaim.first(key, "holder", lease, Waiting.NONE));
            LockKey last = kind == LockKind.READ ? LockKey.of(LockKind.WRITE, key.name()) : key;
            queued(LockClaim.first(last, "waiter", lease, Waiting.QUEUE));
            // Longer than the server would keep it: an entry whose lease is over must still be there.
            store.keys().forEach(it -> store.redis().pexpire(it, 60_000));
        }
        ClientOverRedis.pause(lease.plusMillis(50));
        Map<String, String> before = dump();
        store.redis().configResetstat();

        List<LockReport> all = Store.answer(inspector.all().collectList());
        List<LockReport> one = reports("lock of READ");

        assertThat(dump()).isEqualTo(before);
        assertThat(List.of("set", "hset", "del", "hdel", "zadd", "zrem", "pexpire", "publish", "unlink"))
                .allSatisfy(
                        command -> assertThat(store.calls(command)).as(command).isZero());
        assertThat(all).hasSize(LockKind.values().length);
        assertThat(one).singleElement().satisfies(report -> {
            assertThat(report.isHeld()).as("its lease is over").isFalse();
            assertThat(report.waiters())
                    .singleElement()
                    .satisfies(it -> assertThat(it.details()).containsKey("stale"));
        });
    }

    @ParameterizedTest
    @CsvSource({
        ":mutex,''",
        ":mutex,:queue",
        ":mutex,:claims",
        ":mutex,:held",
        ":mutex,:gone",
        ":mutex,:aside",
        ":mutex,:interest",
        ":rw,''",
        ":rw,:queue",
        ":rw,:claims",
        ":rw,:held",
        ":rw,:gone",
        ":rw,:aside",
        ":rw,:interest"
    })
    void aForeignValueUnderAKeyIsNamed(String type, String suffix) {
        LockKey key = LockKey.of(type.equals(":rw") ? LockKind.WRITE : LockKind.MUTEX, "orders");
        held(Store.claim(key, Waiting.NONE));
        queued(Store.claim(key, Waiting.QUEUE));
        String foreign = Store.holderKey(key) + suffix;
        store.redis().del(foreign);
        if (suffix.equals(":held")) {
            store.redis().set(foreign, "theirs"); // that one is a list
        } else {
            store.redis().lpush(foreign, "theirs");
        }

        mustWarnOf(only("orders"), foreign);
        assertThat(Store.answer(inspector.all().collectList()))
                .singleElement()
                .satisfies(report -> mustWarnOf(report, foreign));
    }

    @Test
    void aForeignKeyOfTheRightTypeIsNamedToo() {
        store.redis().hset("holdfast:{hash}:mutex", Map.of("field", "theirs"));
        store.redis().zadd("holdfast:{set}:rw:held", serverMicros() + 60_000_000.0, "theirs");
        store.redis().zadd("holdfast:{old set}:rw:held", 1, "theirs");
        store.redis().set("holdfast:{string}:mutex", "theirs");
        store.redis().set("holdfast:{record}:rw", "theirs");

        mustWarnOf(only("hash"), "holdfast:{hash}:mutex");
        mustWarnOf(only("set"), "holdfast:{set}:rw:held");
        mustWarnOf(only("old set"), "holdfast:{old set}:rw:held");
        mustWarnOf(only("string"), "holdfast:{string}:mutex");
        mustWarnOf(only("record"), "holdfast:{record}:rw");
        assertThat(Store.answer(inspector.all().map(LockReport::name).collectList()))
                .containsExactlyInAnyOrder("hash", "string", "set", "old set", "record");
    }

    /** It may keep other data under the same keys, which is no reason to delete them. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    void aNewerFormIsNamedAndTheOtherLocksAreReported(LockKind kind) {
        LockKey key = LockKey.of(kind, "orders");
        String record = Store.holderKey(key);
        store.redis().set(record, "2 of another form");
        store.redis().set(record + ":queue", "of another form");
        store.redis().set(record + ":held", "of another form");
        held(Store.claim("others"));
        LockHolder holder = new LockHolder("id", kind, 1, 1, Optional.empty(), Optional.empty(), Map.of());
        String advice = "a newer version of this library has written the lock: upgrade this client";

        assertThat(only("orders").warnings()).singleElement().asString().startsWith(advice);
        assertThat(Store.answer(inspector.all().collectList()))
                .hasSize(2)
                .filteredOn(it -> it.name().equals("orders"))
                .containsExactly(only("orders"));
        assertThatThrownBy(() -> Store.answer(inspector.breakHold("orders", holder)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining(advice);
        assertThat(store.redis().get(record)).isEqualTo("2 of another form");
    }

    @Test
    void everyCharacterOfANameIsReadBack() {
        List<String> names =
                new ArrayList<>(List.of("{}", "}:mutex", "a:mutex:queue", "%7B", "a*b?[c]\\", "🔒/鍵", "G 1 2 3"));
        // Each of the first 512 characters, controls included, and the ends of the planes.
        IntStream.concat(IntStream.range(0, 512), IntStream.of(0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10FFFF))
                .mapToObj(c -> "x" + Character.toString(c) + "y")
                .forEach(names::add);
        names.forEach(name -> held(Store.claim(name)));

        assertThat(Store.answer(inspector.all().map(LockReport::name).collectList()))
                .containsExactlyInAnyOrderElementsOf(names);
        for (String name : names) {
            assertThat(only(name).name()).isEqualTo(name);
        }
        assertThatThrownBy(() -> reports(" ")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void prefixIsTakenLiterallyAndKeysOfOthersArePassedOver() {
        String prefix = "a*[b]?\\^-:";
        RedisLockBackend odd =
                RedisLockBackend.builder(store.uri()).keyPrefix(prefix).build();
        RedisLockInspector itsInspector =
                RedisLockBackend.builder(store.uri()).keyPrefix(prefix).inspector();
        assertThat(Store.answer(odd.tryAcquire(Store.claim("orders")))).isInstanceOf(LockAttempt.Acquired.class);
        held(Store.claim("of another prefix"));
        for (String key :
                List.of("{orders}:mutex", "{x}:mutex:more", "{x}y:mutex", "{x}:lock", "{%zz}:mutex", "{:mutex")) {
            store.redis().set(prefix + key, "theirs");
        }
        store.redis().del(prefix + "{orders}:rw");

        List<LockReport> all = Store.answer(itsInspector.all().collectList());

        assertThat(all).extracting(LockReport::name).containsExactly("orders");
        Store.answer(itsInspector.close());
        Store.end(odd);
    }

    @Test
    void tenThousandLocksAreScannedInFewCommands() {
        int locks = 10_000;
        assertThat(Store.answer(Flux.range(0, locks)
                        .flatMap(n -> backend.tryAcquire(Store.claim("cart/" + n)), 256)
                        .count()))
                .isEqualTo(locks);
        assertThat(reports("warm-up")).isEmpty();
        store.redis().configResetstat();

        List<LockReport> all =
                Objects.requireNonNull(Store.answer(inspector.all().collectList()));

        long scans = store.calls("scan");
        long calls = store.calls("evalsha");
        System.out.printf(
                "[holdfast] %,d locks walked with %d SCAN and %d script calls, %d us per script call%n",
                locks, scans, calls, usecPerCall("evalsha"));
        assertThat(all).extracting(LockReport::name).doesNotHaveDuplicates().hasSize(locks);
        assertThat(all).allMatch(LockReport::isHeld);
        assertThat(scans + calls).isLessThan(locks / 20);
    }

    @Test
    void aPageIsReadWhenItIsRequestedAndNothingAfterACancel() {
        Store.answer(Flux.range(0, 2_000)
                .flatMap(n -> backend.tryAcquire(Store.claim("cart/" + n)), 256)
                .count());
        assertThat(reports("warm-up")).isEmpty();
        store.redis().configResetstat();

        StepVerifier.create(inspector.all(), 0)
                .expectSubscription()
                .then(() -> assertThat(store.calls("scan")).isZero())
                .thenRequest(1)
                .expectNextCount(1)
                .then(() -> assertThat(store.calls("scan")).isOne())
                .thenRequest(20)
                .expectNextCount(20)
                .then(() -> assertThat(store.calls("scan")).isOne())
                .thenCancel()
                .verify(Duration.ofSeconds(10));

        assertThat(reports("a sign that all before it was answered")).isEmpty();
        assertThat(store.calls("scan")).isOne();
    }

    @Test
    void theAclLineOfTheJavadocIsEnoughAndEachCommandInItIsNeeded() {
        store.user("operator", ACL);
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication("operator", "any")
                .build();
        RedisLockInspector restricted = RedisLockBackend.builder(uri).inspector();
        for (LockKind kind : LockKind.values()) {
            held(Store.claim(LockKey.of(kind, "lock of " + kind), Waiting.NONE));
            LockKind last = kind == LockKind.READ ? LockKind.WRITE : kind;
            queued(Store.claim(LockKey.of(last, "lock of " + kind), Waiting.QUEUE));
        }
        store.redis().del("holdfast:{lock of MUTEX}:mutex");
        held(Store.claim("another mutex"));
        String flushed = store.redis().scriptFlush();
        assertThat(flushed).isEqualTo("OK");
        assertThat(Store.answer(restricted.all().count())).isEqualTo(LockKind.values().length + 1);
        assertThat(Store.answer(restricted.inspect("lock of READ").count())).isOne();
        assertThat(Store.answer(restricted.servers().single()).warnings()).isEmpty();

        for (String command : List.of("scan", "time", "get", "exists", "hmget", "zcard", "zcount", "zrange", "llen")) {
            store.user("operator", ACL.replace("+" + command + " ", "").replaceAll(" \\+" + command + "$", ""));
            assertThatThrownBy(() -> Store.answer(restricted.all().count()))
                    .as(command)
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            e -> assertThat(e.isTransient()).isFalse())
                    .hasMessageContaining("the ACL forbids it")
                    .hasMessageContaining("RedisLockInspector");
        }
        Store.answer(restricted.close());
    }

    @Test
    void anEvictingServerIsWarnedAbout() {
        assertThat(Store.answer(inspector.servers().single())).satisfies(safe -> {
            assertThat(safe.warnings()).isEmpty();
            assertThat(safe.evictionPolicy()).hasValue("noeviction");
            assertThat(safe.version()).hasValueSatisfying(it -> assertThat(it).contains("."));
            assertThat(safe.uptime()).isPresent();
            assertThat(safe.server()).isEqualTo(store.server.host() + ":" + store.server.port());
        });
        store.redis().configSet("maxmemory-policy", "allkeys-lru");

        assertThat(Store.answer(inspector.servers().single()).warnings())
                .singleElement()
                .satisfies(
                        warning -> assertThat(warning).contains("allkeys-lru").contains("noeviction"));
    }

    @Test
    void whereInfoIsForbiddenTheReportSaysSo() {
        store.user("operator", ACL.replace(" +info", ""));
        RedisURI uri = RedisURI.builder(store.uri())
                .withAuthentication("operator", "any")
                .build();
        RedisLockInspector restricted = RedisLockBackend.builder(uri).inspector();

        assertThat(Store.answer(restricted.servers().single())).satisfies(report -> {
            assertThat(report.version()).isEmpty();
            assertThat(report.warnings())
                    .singleElement()
                    .satisfies(it -> assertThat(it).contains("+info"));
        });
        Store.answer(restricted.close());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failuresSayWhatToDo(boolean isClosed) {
        assertThat(reports("orders")).isEmpty();
        if (isClosed) {
            Store.answer(inspector.close());
        } else {
            store.server.stop();
        }
        for (Flux<?> question : List.of(inspector.inspect("orders"), inspector.all(), inspector.servers())) {
            assertThatThrownBy(() -> Store.answer(question.then()))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining(store.server.host() + ":" + store.server.port())
                    .hasMessageContaining(isClosed ? "was closed" : "made anew");
        }
    }

    @Test
    void aServerThatHangsIsGivenUpAfterTheTimeoutOfTheAddress() {
        RedisURI uri = store.uri();
        uri.setTimeout(Duration.ofMillis(300));
        RedisLockInspector impatient = RedisLockBackend.builder(uri).inspector();
        assertThat(Store.answer(impatient.inspect("orders").count())).isZero();
        store.server.pause();
        try {
            for (Flux<?> question : List.of(impatient.inspect("orders"), impatient.all(), impatient.servers())) {
                assertThatThrownBy(() -> Store.answer(question.then()))
                        .isInstanceOf(LockBackendException.class)
                        // The second one: the first has given up the connection, and it may be closed under the next.
                        .hasMessageFindingMatch("does not answer|connection was lost");
            }
        } finally {
            store.server.resume();
        }
        Store.answer(impatient.close());
    }

    private static void mustWarnOf(LockReport report, String foreignKey) {
        assertThat(report.warnings())
                .singleElement()
                .satisfies(it ->
                        assertThat(it).startsWith("There is a foreign value under the key '" + foreignKey + "',"));
    }

    private static Instant since(LockHolder holder) {
        return Instant.parse(holder.details().get("since"));
    }

    private LockReport only(String name) {
        List<LockReport> reports = reports(name);
        assertThat(reports).hasSize(1);
        return reports.get(0);
    }

    private List<LockReport> reports(String name) {
        return Store.answer(inspector.inspect(name).collectList());
    }

    @CanIgnoreReturnValue
    private LockClaim held(LockClaim claim) {
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        return claim;
    }

    @CanIgnoreReturnValue
    private LockClaim queued(LockClaim waiter) {
        watches.add(backend.watch(waiter).subscribe());
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        return waiter;
    }

    private Map<String, String> dump() {
        Map<String, String> all = new TreeMap<>();
        store.keys().forEach(key -> all.put(key, Arrays.toString(store.redis().dump(key))));
        return all;
    }

    private long usecPerCall(String command) {
        String stats = store.redis().info("commandstats");
        Matcher line = Pattern.compile("cmdstat_" + command + ":calls=\\d+,usec=\\d+,usec_per_call=(\\d+)")
                .matcher(stats);
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    private long serverMicros() {
        List<String> time = store.redis().time();
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }
}
