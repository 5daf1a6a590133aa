package io.holdfast.zookeeper.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.vertx.ContextScheduler;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Flux;

/** Uses the session of a clustered Vert.x. BlockHound watches its event loops, which are Netty threads. */
class ZooKeeperVertxIT {

    private static final String ROOT = "/io.vertx/holdfast";

    private static Store store;

    private final CuratorFramework curator = store.client("io.vertx");
    private final ZookeeperClusterManager manager = new ZookeeperClusterManager(curator);
    private final LockClient rival = LockClient.create(ZooKeeperLockBackend.over(store.client("io.vertx")));
    private Vertx vertx;

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
        if (vertx != null) {
            done(vertx.close());
        }
        Waiting.forMono(rival.close());
        Waiting.until("nothing is left", () -> store.claims(ROOT).isEmpty());
    }

    private static <T> T done(io.vertx.core.Future<T> future) {
        CompletableFuture<T> result = future.toCompletionStage().toCompletableFuture();
        assertThat(result).succeedsWithin(Waiting.PATIENCE);
        return result.join();
    }

    private void join() {
        vertx = done(Vertx.builder().withClusterManager(manager).buildClustered());
    }

    @Test
    void managerThatHasNotJoinedIsAClearError() {
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(new ZookeeperClusterManager()));
        assertThatThrownBy(() -> Waiting.forMono(locks.lock("early").acquire()))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("has not joined its cluster yet");
        Waiting.forMono(locks.close());
    }

    @Test
    void backendThatWasMadeEarlyWorksOnceTheManagerHasJoined() {
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(manager));
        join();
        LockLease lease = Waiting.forMono(locks.lock("joined").acquire());
        assertThat(store.claims(ROOT)).hasSize(1);
        Waiting.forMono(lease.release());
        Waiting.forMono(locks.close());
        assertThat(curator.getZookeeperClient().isConnected()).isTrue();
    }

    @Test
    void eventLoopsAreWatched() {
        join();
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        vertx.getOrCreateContext().runOnContext(unused -> {
            try {
                Thread.sleep(1);
                thrown.complete(new AssertionError("BlockHound does not watch this thread"));
            } catch (Throwable e) {
                thrown.complete(e);
            }
        });
        assertThat(thrown).succeedsWithin(Waiting.PATIENCE).isInstanceOf(BlockingOperationError.class);
    }

    @Test
    void acquiringOnAnEventLoopNeverBlocksItAndSignalsComeOnItsContext() {
        join();
        Context context = vertx.getOrCreateContext();
        LockClient locks = LockClient.builder(ZooKeeperVertx.overVertx(manager))
                .deliverOn(ContextScheduler.of(context))
                .build();
        Queue<Context> seen = new ConcurrentLinkedQueue<>();
        CompletableFuture<Long> rounds = new CompletableFuture<>();
        context.runOnContext(unused -> Flux.range(0, 100)
                .flatMap(
                        i -> locks.lock("verticle/" + i % 3)
                                .acquire()
                                .doOnNext(lease -> seen.add(Vertx.currentContext()))
                                .flatMap(lease -> lease.release().doOnSuccess(it -> seen.add(Vertx.currentContext())))
                                .thenReturn(i),
                        10)
                .count()
                .subscribe(rounds::complete, rounds::completeExceptionally));
        assertThat(rounds).succeedsWithin(Waiting.PATIENCE).isEqualTo(100L);
        assertThat(seen).hasSize(200).containsOnly(context);
        Waiting.forMono(locks.close());
    }

    @Test
    void lossIsSignalledOnTheContext() {
        join();
        Context context = vertx.getOrCreateContext();
        LockClient locks = LockClient.builder(ZooKeeperVertx.overVertx(manager))
                .deliverOn(ContextScheduler.of(context))
                .build();
        LockLease lease = Waiting.forMono(locks.lock("lost").acquire());
        CompletableFuture<Context> where =
                lease.onLoss().map(reason -> Vertx.currentContext()).toFuture();
        store.claims(ROOT).forEach(store::delete);
        assertThat(where).succeedsWithin(Waiting.PATIENCE).isEqualTo(context);
        Waiting.forMono(locks.close());
    }

    /** The user's code on that thread would delay the cluster's own events. */
    @Test
    void nothingOfTheUserRunsOnZooKeepersEventThread() {
        join();
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(manager));
        Queue<String> threads = new ConcurrentLinkedQueue<>();
        LockLease first = Waiting.forMono(locks.lock("threads")
                .acquire()
                .doOnNext(lease -> threads.add(Thread.currentThread().getName())));
        CompletableFuture<LossReason> waits = locks.lock("threads")
                .acquire()
                .doOnNext(lease -> threads.add(Thread.currentThread().getName()))
                .flatMap(LockLease::onLoss)
                .doOnNext(reason -> threads.add(Thread.currentThread().getName()))
                .toFuture();
        Waiting.until("queued", () -> store.claims(ROOT).size() == 2);
        Waiting.forMono(first.release()
                .doOnSuccess(it -> threads.add(Thread.currentThread().getName())));
        Waiting.until("granted", () -> threads.size() == 3);
        store.claims(ROOT).forEach(store::delete);
        assertThat(waits).succeedsWithin(Waiting.PATIENCE);
        assertThat(threads).hasSize(4).allMatch(name -> name.startsWith("parallel-"));
        Waiting.forMono(locks.close());
    }

    @Test
    void closingVertxEndsTheWaiters() {
        join();
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(manager));
        LockLease held = Waiting.forMono(rival.lock("waited for").acquire());
        CompletableFuture<LockLease> waiting =
                locks.lock("waited for").acquire().toFuture();
        Waiting.until("queued", () -> store.claims(ROOT).size() == 2);
        done(vertx.close());
        vertx = null;
        assertThat(waiting)
                .failsWithin(5, TimeUnit.SECONDS)
                .withThrowableThat()
                .withMessageContaining("its owner has closed the Curator client");
        Waiting.forMono(held.release());
        Waiting.forMono(locks.close());
    }

    /** Vert.x closes even a client that the application gave it (seen with vertx-zookeeper 4.5 and 5.0), and Curator notifies no listener. */
    @Test
    void closingVertxIsALossOfAllItsLocksAtOnce() {
        join();
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(manager));
        List<LockLease> leases = Waiting.forMono(Flux.range(0, 5)
                .flatMap(i -> locks.lock("closed/" + i).acquire())
                .collectList());
        done(vertx.close());
        vertx = null;
        for (LockLease lease : leases) {
            assertThat(Waiting.forMono(lease.onLoss())).isIn(LossReason.DISCONNECTED, LossReason.NOT_HELD);
            assertThat(lease.isValid()).isFalse();
        }
        CompletableFuture<LockLease> late = locks.lock("closed/0").tryAcquire().toFuture();
        assertThat(late).failsWithin(Waiting.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        Waiting.forMono(locks.close());
    }
}
