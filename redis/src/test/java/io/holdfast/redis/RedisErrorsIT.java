package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Each failure names the lock, the server, and what to do, and shows whether waiting may help. */
class RedisErrorsIT {

    private static final String SECRET = "s3cr3t-of-the-test";

    /** The rights in the Javadoc of {@link RedisLockBackend} and in docs/operate/redis.md. */
    static final String DOCUMENTED_ACL =
            "on nopass resetkeys ~holdfast:* resetchannels &holdfast:* -@all +hello +auth +ping +evalsha +eval +script|load "
                    + "+subscribe +unsubscribe +publish +pubsub|numsub +time +exists +del +get +set +hget +hmget +hset "
                    + "+hdel +hlen +hsetnx +hrandfield +pexpire +pttl +zadd +zcard +zrem +zrange +zrank +zscore +zmscore +zrangebyscore"
                    + " +zrangebylex +zrandmember +zremrangebyrank +zremrangebyscore +setrange +rpush +ltrim +lpos +llen +lrange";

    private static Store store;
    private RedisLockBackend backend;

    @BeforeAll
    static void startServer() {
        store = Store.start();
    }

    @AfterAll
    static void stopServer() {
        store.close();
    }

    @BeforeEach
    void start() {
        String reset = store.redis().flushall() + store.redis().configSet("maxmemory", "0");
        assertThat(reset).isEqualTo("OKOK");
    }

    @AfterEach
    void stop() {
        Store.end(backend);
    }

    @Test
    void noServerListens() {
        assertFails(RedisURI.create("127.0.0.1", FreePorts.next()), true, "start the server");
    }

    @Test
    void connectionIsLostAndComesBack() {
        RedisServer server = RedisServer.start();
        try (server) {
            backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            LockClaim claim = Store.claim("orders");
            assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
            server.stop();
            LockBackendException lost = failure(claim);
            assertThat(lost.isTransient()).isTrue();
            assertThat(lost).hasMessageContaining("made anew");
            server.restart();
            assertThat(Store.answer(eventually(claim))).isInstanceOf(LockAttempt.Acquired.class);
        }
    }

    @Test
    void firstConnectionIsTriedAgainByTheNextCommand() {
        RedisServer server = RedisServer.start();
        try (server) {
            server.stop();
            backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            assertThat(failure(Store.claim("orders")).isTransient()).isTrue();
            server.restart();
            assertThat(Store.answer(backend.tryAcquire(Store.claim("orders"))))
                    .isInstanceOf(LockAttempt.Acquired.class);
        }
    }

    private Mono<LockAttempt> eventually(LockClaim claim) {
        return backend.tryAcquire(claim)
                .retryWhen(Retry.fixedDelay(500, Duration.ofMillis(10))
                        .filter(e -> e instanceof LockBackendException failed && failed.isTransient()));
    }

    @Test
    void passwordIsMissing() {
        try (RedisServer server = RedisServer.builder().password(SECRET).start()) {
            assertFails(RedisURI.create(server.host(), server.port()), false, "requires a password");
        }
    }

    @Test
    void wrongPasswordIsNotInTheMessage() {
        try (RedisServer server = RedisServer.builder().password("right").start()) {
            RedisURI uri = RedisURI.builder()
                    .withHost(server.host())
                    .withPort(server.port())
                    .withPassword(SECRET.toCharArray())
                    .build();
            LockBackendException failure = assertFails(uri, false, "password is wrong");
            StringWriter everything = new StringWriter();
            failure.printStackTrace(new PrintWriter(everything, true));
            assertThat(everything.toString()).doesNotContain(SECRET);
        }
    }

    @Test
    void passwordIsRight() {
        try (RedisServer server = RedisServer.builder().password(SECRET).start()) {
            backend = RedisLockBackend.create(RedisURI.create(server.uri()));
            assertThat(Store.answer(backend.tryAcquire(Store.claim("orders"))))
                    .isInstanceOf(LockAttempt.Acquired.class);
        }
    }

    @Test
    void aclForbidsTheKey() {
        user("limited", "on nopass ~other:* &* +@all");
        assertFails(userUri("limited"), false, "the ACL forbids it");
    }

    @Test
    void aclForbidsScripts() {
        user("scriptless", "on nopass ~* &* +@all -evalsha -eval");
        assertFails(userUri("scriptless"), false, "the ACL forbids it");
    }

    @ParameterizedTest
    @EnumSource
    void documentedAclIsEnough(LockKind kind) throws InterruptedException {
        user("locker", DOCUMENTED_ACL);
        backend = RedisLockBackend.create(userUri("locker"));
        LockKey taken = LockKey.of(kind == LockKind.READ ? LockKind.WRITE : kind, "orders");
        LockKey wanted = LockKey.of(kind == LockKind.WRITE ? LockKind.READ : kind, "orders");
        LockClaim holder = Store.claim(taken, Waiting.NONE);
        LockClaim waiter = Store.claim(wanted, Waiting.QUEUE);
        LockClaim notified = Store.claim(taken, Waiting.NOTIFY);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(waiter).subscribe(signals::add);
        Disposable another = backend.watch(notified).subscribe();
        Store.answer(backend.tryAcquire(holder));
        Store.answer(backend.tryAcquire(waiter));
        Store.answer(backend.tryAcquire(notified));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        Store.answer(backend.tryAcquire(notified.withAttempt(2)));
        Store.answer(backend.release(holder));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Granted.class);
        Store.answer(backend.tryAcquire(waiter.withAttempt(2)));
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
        assertThat(Store.answer(backend.release(waiter))).isEqualTo(Ownership.HELD);
        Store.answer(backend.ping());
        watch.dispose();
        another.dispose();
    }

    @Test
    void documentedAclIsEnoughForAWriterThatWaitsForReaders() throws InterruptedException {
        user("locker", DOCUMENTED_ACL);
        backend = RedisLockBackend.create(userUri("locker"));
        LockClaim reader = Store.claim(LockKey.of(LockKind.READ, "orders"), Waiting.NONE);
        LockClaim writer = Store.claim(LockKey.of(LockKind.WRITE, "orders"), Waiting.QUEUE);
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(writer).subscribe(signals::add);
        Store.answer(backend.tryAcquire(reader));
        Store.answer(backend.tryAcquire(writer));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        Store.answer(backend.tryAcquire(writer.withAttempt(2)));
        assertThat(Store.answer(backend.tryAcquire(Store.claim(reader.key(), Waiting.NONE))))
                .as("checks whether the writer lives")
                .isInstanceOf(LockAttempt.Contended.class);
        Store.answer(backend.release(reader));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Granted.class);
        watch.dispose();
    }

    @Test
    void watchEndsWhenTheChannelIsForbidden() throws InterruptedException {
        user("deaf", "on nopass ~* resetchannels +@all");
        backend = RedisLockBackend.create(userUri("deaf"));
        Store.answer(backend.tryAcquire(Store.claim("orders")));
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        BlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
        Disposable watch = backend.watch(waiter).subscribe(signal -> {}, errors::add);
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
        assertThat(errors.poll(10, TimeUnit.SECONDS))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the ACL forbids it")
                .hasMessageContaining("holdfast:client:");
        assertThat(watch.isDisposed()).isTrue();
        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);
    }

    /** The waiter learns of its grant from its next attempt. */
    @Test
    void aReleaseWithoutTheRightToPublishHandsOver() {
        user("mute", "on nopass ~* &* +@all -publish");
        backend = RedisLockBackend.create(userUri("mute"));
        RedisLockBackend other = RedisLockBackend.create(store.uri());
        LockClaim holder = Store.claim("orders");
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        Store.answer(backend.tryAcquire(holder));
        Disposable watch = other.watch(waiter).subscribe();
        Store.answer(other.tryAcquire(waiter));
        Store.answer(other.tryAcquire(waiter.withAttempt(2))); // its subscription is confirmed

        assertThatThrownBy(() -> Store.answer(backend.release(holder)))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("the ACL forbids it");

        String key = Store.holderKey("orders");
        assertThat(Store.waiters(store.redis(), key)).as("the queue").isEmpty();
        assertThat(Store.answer(other.tryAcquire(waiter.withAttempt(3)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(other.release(waiter.withAttempt(3)))).isEqualTo(Ownership.HELD);
        assertThat(store.redis().get(key)).startsWith("1F");
        watch.dispose();
        Store.end(other);
    }

    @Test
    void memoryIsFull() {
        String set = store.redis().configSet("maxmemory", "1");
        assertThat(set).isEqualTo("OK");
        assertFails(store.uri(), true, "maxmemory");
    }

    @Test
    void serverIsAReplica() {
        try (RedisServer replica = RedisServer.builder()
                .args("--replicaof", store.server.host(), Integer.toString(store.server.port()))
                .start()) {
            assertFails(RedisURI.create(replica.uri()), true, "replica");
        }
    }

    @Test
    void serverIsBusyWithAScript() {
        try (Store slow = Store.start("--lua-time-limit", "50");
                RedisClient other = RedisClient.create(slow.uri())) {
            backend = slow.backend();
            Store.answer(backend.ping());
            var endless = other.connect().async().eval("while true do end", ScriptOutputType.STATUS);
            LockBackendException busy;
            do { // the endless script is under way on another connection
                busy = catchThrowableOfType(
                        LockBackendException.class, () -> Store.answer(backend.tryAcquire(Store.claim("orders"))));
            } while (busy == null || !busy.getMessage().contains("BUSY"));
            assertThat(busy.isTransient()).isTrue();
            assertThat(busy).hasMessageContaining("long script");
            assertThat(slow.redis().scriptKill()).isEqualTo("OK");
            assertThat(endless.isCancelled()).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-LOADING Redis is loading the dataset in memory|true|loading",
                "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.|true|without its master",
                "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist|true|cannot save",
                "-NOREPLICAS Not enough good replicas to write.|true|replicas",
                "-NOPERM this user has no permissions to run the 'evalsha' command|false|the ACL forbids it",
                "-NOAUTH Authentication required.|false|requires a password",
                "-OOM command not allowed when used memory > 'maxmemory'.|true|raise maxmemory",
                "-READONLY You can't write against a read only replica.|true|point the RedisURI at the master",
                "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.|true|SCRIPT KILL",
                "-MOVED 7000 127.0.0.1:7001|false|use RedisLockBackend.cluster",
                "-ASK 7000 127.0.0.1:7001|false|use RedisLockBackend.cluster",
                "-CLUSTERDOWN Hash slot not served|true|has no master",
                "-TRYAGAIN Multiple keys request during rehashing of slot|true|moving the lock's slot",
                "-ERR max number of clients reached|true|raise maxclients",
                "-DENIED Redis is running in protected mode|false|protected mode",
                "-ERR something new|false|refused the command"
            })
    void serverSaysWhatIsWrong(String answer, boolean isTransient, String advice) throws IOException {
        try (FakeServer fake = FakeServer.answering(name -> name.startsWith("eval") ? answer : greeting(name))) {
            assertFails(RedisURI.create("127.0.0.1", fake.port()), isTransient, advice);
        }
    }

    @Test
    void serverIsOlderThanSixTwo() throws IOException {
        String noPxat = "-ERR Error running script (call to f_0): @user_script:30: @user_script: 30: -ERR syntax error";
        try (FakeServer old = FakeServer.answering(name -> name.startsWith("evalsha")
                ? "-NOSCRIPT No matching script."
                : name.startsWith("eval") ? noPxat : greeting(name))) {
            assertFails(RedisURI.create("127.0.0.1", old.port()), false, "older than Redis 6.2");
        }
    }

    @Test
    void serverIsNoRedis() throws IOException {
        try (FakeServer web = FakeServer.answering(name -> "HTTP/1.1 400 Bad Request\r\n")) {
            assertFails(RedisURI.create("127.0.0.1", web.port()), false, "does not speak the Redis protocol");
        }
    }

    @Test
    void aPlainRedisAtASentinelAddressIsNamed() {
        backend = RedisLockBackend.create(
                RedisURI.create("redis-sentinel://%s:%d#mymaster".formatted(store.server.host(), store.server.port())));
        LockBackendException failure = failure(Store.claim("orders"));
        assertThat(failure)
                .hasMessageContaining("is a Redis server, not a sentinel")
                .hasMessageContaining("nknown command")
                .hasMessageNotContaining("timed out");
        assertThat(failure.isTransient()).isFalse();
    }

    @Test
    void serverHangsUpAtOnce() throws IOException {
        try (FakeServer strict = FakeServer.answering(name -> {
            throw new IllegalStateException("hangs up");
        })) {
            assertFails(RedisURI.create("127.0.0.1", strict.port()), true, "rediss://");
        }
    }

    @Test
    void serverIsSilent() throws IOException {
        try (FakeServer silent = FakeServer.answering(name -> null)) {
            RedisURI uri = RedisURI.create("127.0.0.1", silent.port());
            uri.setTimeout(Duration.ofMillis(200));
            assertFails(uri, true, "does not answer");
        }
    }

    @Test
    void closedBackendSaysSo() {
        RedisLockBackend closed = store.backend();
        Store.answer(closed.ping());
        Store.end(closed);
        Store.end(closed);
        assertThatThrownBy(() -> Store.answer(closed.tryAcquire(Store.claim("orders"))))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("was closed");
        assertThatThrownBy(() -> Store.answer(closed.ping())).hasMessageContaining("was closed");
    }

    /** Redis before 6 has no HELLO; the driver then speaks the older protocol. */
    private static String greeting(String name) {
        return switch (name) {
            case "hello" -> FakeServer.HELLO;
            case "ping" -> "+PONG";
            case "subscribe" -> "";
            default -> "-ERR unknown command `" + name + "`";
        };
    }

    @CanIgnoreReturnValue
    private LockBackendException assertFails(RedisURI uri, boolean isTransient, String advice) {
        backend = RedisLockBackend.create(uri);
        LockBackendException failure = failure(Store.claim("orders"));
        assertThat(failure)
                .hasMessageContaining("acquire lock 'orders'")
                .hasMessageContaining("holdfast:{orders}:mutex")
                .hasMessageContaining(uri.getHost() + ":" + uri.getPort())
                .hasMessageContaining(advice);
        assertThat(failure.isTransient()).as(failure.getMessage()).isEqualTo(isTransient);
        assertThat(failure.lockName()).isEqualTo("orders");
        assertThat(failure).hasCauseInstanceOf(Throwable.class);
        return failure;
    }

    private LockBackendException failure(LockClaim claim) {
        LockBackendException failure =
                catchThrowableOfType(LockBackendException.class, () -> Store.answer(backend.tryAcquire(claim)));
        assertThat(failure).as("a failure").isNotNull();
        return failure;
    }

    private static void user(String name, String rules) {
        store.user(name, rules);
    }

    private static RedisURI userUri(String name) {
        return RedisURI.builder()
                .withHost(store.server.host())
                .withPort(store.server.port())
                .withAuthentication(name, "any")
                .build();
    }
}
