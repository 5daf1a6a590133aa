package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.testkit.server.Signals;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Claims of clients that vanish wait in front of a living claim: any number of claims, of any number of clients, for each kind of lock. */
class ZooKeeperVanishedClientsIT {

    private static final String LOCKS = "/vanish/holdfast";

    /** A server ends a session up to one tick late. The rest is for a busy machine. */
    private static final Duration BOUND =
            Store.SESSION.plusMillis(2L * Server.TICK_MILLIS).plusSeconds(2);

    private static Store store;

    /** Its own session is long: a slow machine must not cost it its lock. */
    private static CuratorFramework near;

    @BeforeAll
    static void start() {
        store = Store.start();
        near = store.client("vanish", store.address(), Duration.ofSeconds(30));
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    private static Mono<LockLease> acquire(LockClient locks, String kind, String name) {
        return switch (kind) {
            case "mutex" -> locks.lock(name).acquire();
            case "writer" -> locks.readWriteLock(name).writeLock().acquire();
            default -> locks.semaphore(name, 1).acquire();
        };
    }

    private static Stream<Arguments> crowds() {
        return Stream.of("mutex", "writer", "permit")
                .flatMap(kind ->
                        Stream.of(Arguments.of(kind, 1, 1), Arguments.of(kind, 1, 1_000), Arguments.of(kind, 5, 20)));
    }

    private static long packets() {
        return store.server().inside().serverStats().getPacketsReceived();
    }

    private static int waiting() {
        return store.claims(LOCKS).size();
    }

    /** All their sessions end at one time, so many clients cost no more than one. Then the server keeps nothing of them. */
    @ParameterizedTest
    @MethodSource("crowds")
    void livingWaiterIsServedWhenTheSessionsOfThoseInFrontAreOver(String kind, int clients, int claims) {
        String name = kind + clients + 'x' + claims;
        LockClient living = LockClient.create(ZooKeeperLockBackend.over(near));
        LockLease held = Waiting.forMono(acquire(living, kind, name));
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port())) {
            List<CuratorFramework> cutOff = new ArrayList<>();
            List<Disposable> waiters = new ArrayList<>();
            for (int client = 0; client < clients; client++) {
                CuratorFramework curator = Store.connect("vanish", proxy.host() + ':' + proxy.port(), Store.SESSION);
                cutOff.add(curator);
                LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
                for (int claim = 0; claim < claims; claim++) {
                    waiters.add(acquire(locks, kind, name).subscribe());
                }
            }
            Waiting.until("they wait", () -> waiting() == 1 + clients * claims);
            CompletableFuture<LockLease> last = acquire(living, kind, name).toFuture();
            Waiting.until("the living one waits behind them", () -> waiting() == 2 + clients * claims);

            proxy.drop(Direction.TO_SERVER, Direction.TO_CLIENT);
            long vanished = System.nanoTime();
            Waiting.forMono(held.release());
            long before = packets();
            assertThat(last).succeedsWithin(BOUND);
            long requests = packets() - before;

            System.out.printf(
                    "%s, %d x %d: served after %d ms, %d requests%n",
                    kind, clients, claims, (System.nanoTime() - vanished) / 1_000_000, requests);
            assertThat(requests)
                    .as("requests of the living client, pings included")
                    .isLessThan(20);
            Waiting.forMono(last.join().release());
            assertThat(waiting()).isZero();
            assertThat(packetsOfACycle(living, kind, name)).isLessThanOrEqualTo(8);
            waiters.forEach(Disposable::dispose);
            proxy.pass();
            cutOff.forEach(CuratorFramework::close);
        }
        Waiting.forMono(living.close());
    }

    /** A cycle at a queue that was not used yet is five requests at most, and the session may send others of its own. */
    private static long packetsOfACycle(LockClient living, String kind, String name) {
        long before = packets();
        Waiting.forMono(Waiting.forMono(acquire(living, kind, name)).release());
        return packets() - before;
    }

    @ParameterizedTest
    @ValueSource(strings = {"KILL", "STOP"})
    void livingWaiterIsServedWhenTheSessionOfAProcessInFrontIsOver(String signal) throws Exception {
        LockClient living = LockClient.create(ZooKeeperLockBackend.over(near));
        LockLease held = Waiting.forMono(living.lock(signal).acquire());
        Process process = process(Store.SESSION, 20, signal);
        try {
            Waiting.until("the process waits", () -> waiting() == 21);
            CompletableFuture<LockLease> last = living.lock(signal).acquire().toFuture();
            Waiting.until("the living one waits behind it", () -> waiting() == 22);
            Signals.send(signal, process.pid());
            Waiting.forMono(held.release());
            assertThat(last).succeedsWithin(BOUND);
            Waiting.forMono(last.join().release());
        } finally {
            process.destroyForcibly();
        }
        Waiting.forMono(living.close());
    }

    /** Its session goes on, so it keeps its places. The lock is idle until the process goes on. */
    @Test
    void processThatIsStoppedForLessThanItsSessionDelaysThoseBehindItByAsMuch() throws Exception {
        LockClient living = LockClient.create(ZooKeeperLockBackend.over(near));
        LockLease held = Waiting.forMono(living.lock("short stop").acquire());
        Process process = process(Duration.ofSeconds(20), 20, "short stop");
        try {
            Waiting.until("the process waits", () -> waiting() == 21);
            CompletableFuture<LockLease> last =
                    living.lock("short stop").acquire().toFuture();
            Waiting.until("the living one waits behind it", () -> waiting() == 22);
            Signals.pause(process.pid());
            Waiting.forMono(held.release());
            Waiting.pass(Duration.ofSeconds(2));
            assertThat(last).as("while the process is stopped").isNotDone();
            Signals.resume(process.pid());
            assertThat(last).succeedsWithin(Duration.ofSeconds(8));
            Waiting.forMono(last.join().release());
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        Waiting.forMono(living.close());
    }

    /** The driver has a thread of its own for heartbeats. An operator can take the place away. */
    @Test
    void clientThatHangsWhileItsSessionLivesKeepsItsPlaceUntilItGoesOnOrAnOperatorBreaksTheLock() {
        LockClient living = LockClient.create(ZooKeeperLockBackend.over(near));
        LockInspector inspector = ZooKeeperLockBackend.builder(near).inspector();
        LockLease held = Waiting.forMono(living.lock("hung").acquire());
        CountDownLatch hang = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        try (CuratorFramework hung = Store.connect("vanish", store.address(), Store.SESSION)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(hung));
            CompletableFuture<LockLease> first = locks.lock("hung").acquire().toFuture();
            CompletableFuture<LockLease> second = locks.lock("hung").acquire().toFuture();
            Waiting.until("they wait", () -> waiting() == 3);
            CompletableFuture<LockLease> last = living.lock("hung").acquire().toFuture();
            Waiting.until("the living one waits behind them", () -> waiting() == 4);
            blockEvents(hung, hangs, hang);
            Waiting.forMono(held.release());

            Waiting.pass(BOUND);
            assertThat(last).as("while the client hangs").isNotDone();
            assertThat(waiting()).isEqualTo(3);

            for (int hungClaims = 2; hungClaims > 0; hungClaims--) {
                LockHolder holder = Waiting.forMono(
                                inspector.inspect("hung").next().map(LockReport::holders))
                        .get(0);
                assertThat(Waiting.forMono(inspector.breakHold("hung", holder))).isTrue();
            }
            assertThat(last).succeedsWithin(Waiting.PATIENCE);

            hang.countDown();
            Waiting.until("the client begins again behind it", () -> waiting() == 3);
            Waiting.forMono(last.join().release());
            Waiting.forMono(Flux.merge(Mono.fromFuture(first), Mono.fromFuture(second))
                    .flatMap(LockLease::release)
                    .then(Mono.just(true)));
            Waiting.forMono(locks.close());
        } finally {
            hang.countDown();
        }
        Waiting.forMono(inspector.close().thenReturn(true));
        Waiting.forMono(living.close());
    }

    /** Blocks the thread on which ZooKeeper's driver delivers its answers and events. */
    private static void blockEvents(CuratorFramework client, CountDownLatch hangs, CountDownLatch until) {
        try {
            client.getZookeeperClient()
                    .getZooKeeper()
                    .exists(
                            "/",
                            false,
                            (code, path, context, stat) -> {
                                hangs.countDown();
                                try {
                                    boolean unused = until.await(1, TimeUnit.MINUTES);
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                }
                            },
                            null);
            assertThat(hangs.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Process process(Duration session, int claims, String name) throws Exception {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        WaitingProcess.class.getName(),
                        store.address(),
                        Long.toString(session.toMillis()),
                        Integer.toString(claims),
                        name))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
