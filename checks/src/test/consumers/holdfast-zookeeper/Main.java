import io.holdfast.LockClient;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        try (CuratorFramework curator = CuratorFrameworkFactory.newClient(arguments[0], new RetryOneTime(100))) {
            curator.start();
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
            System.out.println("held with token "
                    + locks.lock("stock/42")
                            .withLock(lease -> Mono.just(lease.fencingToken()))
                            .block());
            locks.close().block();
        }
    }
}
