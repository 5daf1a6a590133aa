import io.holdfast.LockClient;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.memory.InMemoryLockBackend;
import reactor.core.publisher.Mono;

/** An application brings the driver. This one has no driver, and takes a lock in memory. */
final class Main {

    public static void main(String[] arguments) {
        System.out.println("no lock in etcd without jetcd: " + EtcdLockBackend.class.getName());
        LockClient locks = LockClient.create(InMemoryLockBackend.create());
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
    }
}
