import io.holdfast.LockClient;
import io.holdfast.zookeeper.vertx.ZooKeeperVertx;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        ZookeeperClusterManager cluster = new ZookeeperClusterManager(new JsonObject().put("zookeeperHosts", arguments[0]));
        Vertx vertx = Vertx.builder()
                .withClusterManager(cluster)
                .buildClustered()
                .toCompletionStage()
                .toCompletableFuture()
                .join();
        LockClient locks = LockClient.create(ZooKeeperVertx.overVertx(cluster));
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
