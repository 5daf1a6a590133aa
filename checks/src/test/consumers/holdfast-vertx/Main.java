import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.vertx.VertxLocks;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

final class Main {

    public static void main(String[] arguments) {
        Vertx vertx = Vertx.vertx();
        LockClient client = LockClient.create(InMemoryLockBackend.create());
        long token = VertxLocks.of(client, vertx)
                .lock("stock/42")
                .withLock(lease -> Future.succeededFuture(lease.fencingToken()))
                .toCompletionStage()
                .toCompletableFuture()
                .join();
        System.out.println("held with token " + token);
        client.close().block();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
