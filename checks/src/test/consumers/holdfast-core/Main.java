import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        LockClient locks = LockClient.create(InMemoryLockBackend.create());
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
    }
}
