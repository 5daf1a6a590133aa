import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.micrometer.LockMetrics;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.vertx.VertxLocks;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import java.util.List;
import reactor.core.publisher.Mono;

/** Refers to each module, so that it compiles only with all modules and their libraries. */
final class Application {

    static final List<Class<?>> PARTS = List.of(
            LockMetrics.class,
            RedisLockBackend.class,
            RedlockBackend.class,
            VertxLocks.class,
            ZooKeeperLockBackend.class);

    private Application() {}

    public static void main(String[] arguments) {
        LockClient locks = LockClient.create(InMemoryLockBackend.create());
        Integer parts = locks.lock("stock/42").withLock(Mono.just(PARTS.size())).block();
        RedisLockBackend redis = RedisLockBackend.create(RedisURI.create("redis://localhost:1")); // reads its scripts
        redis.close().block();
        System.out.println(parts + " parts of " + LockClient.class.getPackageName());
    }
}
