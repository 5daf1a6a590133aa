package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.spi.LockAttempt;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** The fate of a request that a server of a cluster does not carry out. The servers here only answer so. */
class RedirectionIT {

    private static final String ACQUIRED = "*3\r\n:1\r\n:7\r\n:30000";
    private static final String NOT_HELD = ":0";

    /** The commands that each server got, in lower case. */
    private final List<String> atFirst = new CopyOnWriteArrayList<>();

    private final List<String> atSecond = new CopyOnWriteArrayList<>();

    /** The answers of the first server to scripts, one after the other; the last one again and again. */
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();

    private final CountDownLatch mayAnswer = new CountDownLatch(1);

    /** Lets the second server answer the handshake; open unless a test closes it. */
    private volatile CountDownLatch mayGreet = new CountDownLatch(0);

    /** Whether the second server has all slots instead of the first. */
    private volatile boolean isFailedOver;

    private FakeServer first;
    private FakeServer second;
    private RedisLockBackend backend;

    @BeforeEach
    void start() throws IOException {
        second = FakeServer.answering(command -> {
            atSecond.add(command);
            await(mayGreet);
            return command.startsWith("eval") ? ACQUIRED : other(command);
        });
        first = FakeServer.answering(command -> {
            atFirst.add(command);
            return command.startsWith("eval") ? toScript() : other(command);
        });
        backend = RedisLockBackend.cluster(List.of(RedisURI.create("127.0.0.1", first.port())));
    }

    @AfterEach
    void stop() throws IOException {
        Store.end(backend);
        first.close();
        second.close();
    }

    private String toScript() {
        await(mayAnswer);
        String next = answers.size() > 1 ? answers.remove() : answers.element();
        return next.replace("<second>", "127.0.0.1:" + second.port());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private FakeServer master() {
        return isFailedOver ? second : first;
    }

    private String other(String command) {
        return switch (command) {
            case "hello" -> FakeServer.HELLO;
            case "ping" -> "+PONG";
            case "cluster" -> "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + master().port();
            default -> "+OK";
        };
    }

    /** A server that redirects names the other master; after a refusal, another server may be the master, too. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "-READONLY You can't write against a read only replica.",
                "-LOADING Redis is loading the dataset in memory",
                "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "-CLUSTERDOWN The cluster is down"
            })
    void aRefusalOfAFormerMasterMakesTheClientRequestTheMap(String answer) {
        answers.add(answer);
        mayAnswer.countDown();
        assertThat(catchThrowableOfType(
                                LockBackendException.class,
                                () -> Store.answer(backend.tryAcquire(Store.claim("orders"))))
                        .isTransient())
                .isTrue();
        isFailedOver = true;

        eventually(() -> Store.answer(backend.tryAcquire(Store.claim("orders"))
                        .onErrorResume(LockBackendException.class, refused -> Mono.empty()))
                instanceof LockAttempt.Acquired);
        assertThat(scripts(atSecond)).containsExactly("evalsha");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-MOVED 3999 <second>", "-ASK 3999 <second>", "-NOSCRIPT No matching script."})
    void aCancelledAcquireIsNeverSentAgain(String answer) {
        answers.add(answer);
        Disposable attempt = backend.tryAcquire(Store.claim("orders")).subscribe();
        eventually(() -> atFirst.contains("evalsha"));

        attempt.dispose();
        mayAnswer.countDown();
        Store.answer(backend.ping()); // the answer comes after the one to the script, on the same connection

        assertThat(scripts(atFirst)).containsExactly("evalsha");
        assertThat(atSecond).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-MOVED 3999 <second>", "-ASK 3999 <second>"})
    void anAcquireThatIsCancelledOnItsWayToTheOtherServerIsNotSentThere(String answer) {
        mayGreet = new CountDownLatch(1);
        answers.add(answer);
        mayAnswer.countDown();
        Disposable attempt = backend.tryAcquire(Store.claim("orders")).subscribe();
        eventually(() -> atSecond.contains("hello"));
        attempt.dispose();
        CompletableFuture<LockAttempt> another =
                backend.tryAcquire(Store.claim("orders")).toFuture();

        mayGreet.countDown();

        assertThat(another).succeedsWithin(Duration.ofSeconds(10)).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(scripts(atSecond)).as("of the other one, after it").containsExactly("evalsha");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-MOVED 3999 <second>", "-ASK 3999 <second>"})
    void anAcquireWithAWaitingCallerIsRedirected(String answer) {
        answers.add(answer);
        mayAnswer.countDown();

        assertThat(Store.answer(backend.tryAcquire(Store.claim("orders")))).isInstanceOf(LockAttempt.Acquired.class);

        assertThat(scripts(atFirst)).containsExactly("evalsha");
        assertThat(scripts(atSecond)).containsExactly("evalsha");
        assertThat(atSecond.contains("asking")).isEqualTo(answer.startsWith("-ASK"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-TRYAGAIN Multiple keys request during rehashing of slot|moving the lock's slot|2",
                "-CLUSTERDOWN The cluster is down|wait for the failover|1",
                "-CLUSTERDOWN Hash slot not served|wait for the failover|1",
                "-MASTERDOWN Link with MASTER is down|wait for the failover|1",
                "-LOADING Redis is loading the dataset in memory|wait|1"
            })
    void theEngineRetriesTransientErrorsAndTheMessageNamesThem(String answerAdviceAndRequests) {
        String[] parts = answerAdviceAndRequests.split("\\|", -1);
        answers.addAll(Collections.nCopies(2 * Integer.parseInt(parts[2]), parts[0]));
        answers.addAll(List.of(ACQUIRED, NOT_HELD));
        mayAnswer.countDown();
        List<LockEvent.AttemptFailed> failures = new CopyOnWriteArrayList<>();
        LockClient client = LockClient.builder(backend)
                .closeBackend(false)
                .listener(event -> {
                    if (event instanceof LockEvent.AttemptFailed failed) {
                        failures.add(failed);
                    }
                })
                .build();

        assertThat(Store.answer(client.lock("orders").acquire()).fencingToken()).isEqualTo(7);

        assertThat(failures).hasSize(2).allSatisfy(failed -> {
            assertThat(failed.error().isTransient()).isTrue();
            assertThat(failed.error()).hasMessageContaining("'orders'").hasMessageContaining(parts[1]);
        });
        ClientOverRedis.await(client.close());
    }

    @Test
    void aServerThatRedirectsToItselfIsGivenUpSoon() {
        answers.add("-MOVED 3999 127.0.0.1:" + first.port());
        mayAnswer.countDown();

        LockBackendException failure = catchThrowableOfType(
                LockBackendException.class, () -> Store.answer(backend.tryAcquire(Store.claim("orders"))));

        assertThat(failure).hasMessageContaining("has not settled");
        assertThat(failure.isTransient()).isTrue();
        assertThat(scripts(atFirst)).hasSize(6);
    }

    private static List<String> scripts(List<String> commands) {
        return commands.stream().filter(command -> command.startsWith("eval")).toList();
    }
}
