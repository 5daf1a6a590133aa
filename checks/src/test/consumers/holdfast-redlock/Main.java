import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.redlock.RedlockBackend;
import java.util.List;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        LockClient locks = LockClient.create(RedlockBackend.over(
                List.of(InMemoryLockBackend.create(), InMemoryLockBackend.create(), InMemoryLockBackend.create())));
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
    }
}
