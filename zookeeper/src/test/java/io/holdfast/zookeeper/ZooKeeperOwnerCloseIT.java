package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.server.FreePorts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The owner of the Curator client closes it while locks are still used. Each waiting operation fails at once and names the cause. */
class ZooKeeperOwnerCloseIT {

    private static final Duration SESSION = Duration.ofSeconds(20);

    /** Much sooner than the safety net of a waiter, and than the end of a session. */
    private static final Duration AT_ONCE = Duration.ofSeconds(3);

    private static Store store;

    private final CuratorFramework curator = store.client("app", store.address(), SESSION);
    private final LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
    private final LockClient rival = LockClient.create(ZooKeeperLockBackend.over(store.client("app")));

    @BeforeAll
    static void start() {
        store = Store.start();
    }

    @AfterAll
    static void stop() {
        store.close();
    }

    @AfterEach
    void close() {
        Waiting.forMono(locks.close());
        Waiting.forMono(rival.close());
        curator.close();
    }

    private static void endsAndSaysWhy(CompletableFuture<LockLease> waiting) {
        try {
            LockLease unexpected = waiting.get(AT_ONCE.toMillis(), TimeUnit.MILLISECONDS);
            throw new AssertionError("granted: " + unexpected);
        } catch (TimeoutException e) {
            throw new AssertionError("still waiting", e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } catch (ExecutionException e) {
            saysWhy(e.getCause());
        }
    }

    private static void saysWhy(Throwable error) {
        assertThat(error)
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        it -> assertThat(it.isTransient()).isFalse())
                .hasMessageContaining("its owner has closed the Curator client");
    }

    private static String failureOf(ReactiveLock lock) {
        return Waiting.forMono(lock.tryAcquire()
                .map(LockLease::toString)
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage()))));
    }

    private static long queued(String name) {
        return store.claims("/app/holdfast").stream()
                .filter(it -> it.contains('/' + name + '/'))
                .count();
    }

    private static CompletableFuture<LockLease> acquire(ReactiveLock lock) {
        return lock.acquire().toFuture();
    }

    @Test
    void waitersAndLaterOperationsFailAtOnceWhenTheirClientIsClosed() {
        LockLease held = Waiting.forMono(rival.lock("closed").acquire());
        LockLease permit = Waiting.forMono(rival.semaphore("closed", 1).acquire());
        List<CompletableFuture<LockLease>> waiting = Stream.of(
                        locks.lock("closed"),
                        locks.lock("closed"),
                        locks.semaphore("closed", 1),
                        locks.semaphore("closed", 1))
                .map(ZooKeeperOwnerCloseIT::acquire)
                .toList();
        Waiting.until("queued", () -> queued("closed") == 6);
        curator.close();
        waiting.forEach(ZooKeeperOwnerCloseIT::endsAndSaysWhy);
        endsAndSaysWhy(acquire(locks.lock("later")));
        endsAndSaysWhy(locks.lock("later").tryAcquire().toFuture());
        Waiting.forMono(held.release());
        Waiting.forMono(permit.release());
    }

    @Test
    void attemptsInFlightEndTooWhenTheirClientIsClosed() {
        LockLease held = Waiting.forMono(rival.lock("in flight").acquire());
        List<CompletableFuture<LockLease>> waiting = Flux.range(0, 200)
                .map(i -> acquire(locks.lock("in flight")))
                .collectList()
                .block();
        curator.close();
        waiting.forEach(ZooKeeperOwnerCloseIT::endsAndSaysWhy);
        Waiting.forMono(held.release());
    }

    @Test
    void clientThatIsClosedBeforeTheFirstAcquireIsAClearError() {
        curator.close();
        endsAndSaysWhy(acquire(locks.lock("first")));
    }

    @Test
    void waitersEndAtOnceWhenTheirClientIsClosedWhileItReconnects() {
        LockLease held = Waiting.forMono(locks.lock("away").acquire());
        CompletableFuture<LockLease> waiting = acquire(locks.lock("away"));
        Waiting.until("queued", () -> queued("away") == 2);
        store.server().stop();
        try {
            Waiting.until("disconnected", () -> !curator.getZookeeperClient().isConnected());
            curator.close();
            endsAndSaysWhy(waiting);
            Waiting.until("lost", () -> !held.isValid()); // signalled on another thread than the waiter's
        } finally {
            store.server().begin();
        }
    }

    @Test
    void errorNamesTheServersWhileTheyAreUnreachable() {
        int port = FreePorts.next();
        CuratorFramework never =
                CuratorFrameworkFactory.newClient("127.0.0.1:" + port + "/tenant", new RetryOneTime(1));
        never.start();
        LockClient early = LockClient.create(ZooKeeperLockBackend.over(never));
        assertThatThrownBy(() -> Waiting.forMono(early.lock("away").tryAcquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        it -> assertThat(it.isTransient()).isTrue())
                .hasMessageContaining("no session with 127.0.0.1:" + port + " after")
                .hasMessageNotContaining("tenant");
        Waiting.forMono(early.close());
        never.close();
        Waiting.forMono(Waiting.forMono(locks.lock("away").acquire()).release());
        store.server().stop();
        try {
            Waiting.until("disconnected", () -> !curator.getZookeeperClient().isConnected());
            // The driver accepts requests for up to a second more.
            Waiting.until(
                    "the error names the server",
                    () -> failureOf(locks.lock("away")).contains("is not connected to " + store.address()));
        } finally {
            store.server().begin();
        }
    }

    @Test
    void waitersEndWhenTheirClientIsClosedBeforeItEverConnects() {
        CuratorFramework never =
                CuratorFrameworkFactory.newClient("127.0.0.1:" + FreePorts.next(), new RetryOneTime(1));
        never.start();
        LockClient early = LockClient.create(ZooKeeperLockBackend.over(never));
        CompletableFuture<LockLease> waiting = acquire(early.lock("early"));
        Waiting.pass(Duration.ofMillis(300));
        never.close();
        endsAndSaysWhy(waiting);
        Waiting.forMono(early.close());
    }

    /** The first client never got a session, for example because of a wrong address. */
    @Test
    void aWaiterMovesToTheClientThatReplacesTheClosedOne() {
        CuratorFramework wrong =
                CuratorFrameworkFactory.newClient("127.0.0.1:" + FreePorts.next(), new RetryOneTime(1));
        wrong.start();
        AtomicReference<CuratorFramework> present = new AtomicReference<>(wrong);
        LockClient moving = LockClient.create(
                ZooKeeperLockBackend.builder(present::get).root("/moving").build());
        CompletableFuture<LockLease> waiting = moving.lock("moved").acquire().toFuture();
        Waiting.pass(Duration.ofMillis(300));

        present.set(curator);
        wrong.close();

        assertThat(waiting).succeedsWithin(Duration.ofSeconds(10));
        Waiting.forMono(moving.close());
    }
}
