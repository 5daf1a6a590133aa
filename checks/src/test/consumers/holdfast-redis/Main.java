import io.holdfast.LockClient;
import io.holdfast.redis.RedisLockBackend;
import io.lettuce.core.RedisURI;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        LockClient locks = LockClient.create(RedisLockBackend.create(RedisURI.create(arguments[0])));
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
    }
}
