package io.holdfast.benchmarks.peer;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import reactor.core.publisher.Mono;

/** The lock of a clustered Vert.x, with its default options: each waiter occupies one of twenty worker threads. */
final class VertxPeer implements Peer {

    /** No waiter reaches this limit. With the default of ten seconds, the benchmark would fail. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final CuratorSession session;
    private final Vertx vertx;

    VertxPeer(CuratorSession session) {
        this.session = session;
        VertxOptions options = new VertxOptions()
                .setEventBusOptions(new EventBusOptions().setHost("127.0.0.1").setClusterPublicHost("127.0.0.1"));
        vertx = await(Vertx.builder()
                .with(options)
                .withClusterManager(new ZookeeperClusterManager(session.client()))
                .buildClustered());
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromCompletionStage(() -> vertx.sharedData()
                .getLockWithTimeout(lock, PATIENCE.toMillis())
                .toCompletionStage()
                .thenCompose(held -> whileHolding.toFuture().thenRun(held::release)));
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().join();
        } catch (CompletionException e) {
            throw new IllegalStateException("no clustered Vert.x", e.getCause());
        }
    }

    @Override
    public void close() {
        Object unused = await(vertx.close());
        session.close();
    }
}
