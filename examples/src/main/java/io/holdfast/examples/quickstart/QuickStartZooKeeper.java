package io.holdfast.examples.quickstart;

import io.holdfast.LockClient;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import reactor.core.publisher.Mono;

public final class QuickStartZooKeeper {

    public static void main(String[] args) {
        String server = args.length > 0 ? args[0] : "localhost:2181";
        try (CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server, 15_000, 5_000, new ExponentialBackoffRetry(100, 3))) {
            curator.start();
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));

            String sold = locks.lock("stock/42")
                    .withLock(lease -> Mono.just("sold with token " + lease.fencingToken()))
                    .block();
            System.out.println(sold);
            locks.close().block(); // before the session ends
        }
    }
}
