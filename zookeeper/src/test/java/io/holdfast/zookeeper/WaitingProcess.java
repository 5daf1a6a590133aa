package io.holdfast.zookeeper;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;

/** A process whose claims wait for one lock. Each releases the lock as soon as it has it. */
final class WaitingProcess {

    private WaitingProcess() {}

    public static void main(String[] arguments) throws InterruptedException {
        Duration session = Duration.ofMillis(Long.parseLong(arguments[1]));
        int claims = Integer.parseInt(arguments[2]);
        try (CuratorFramework curator = Store.connect("vanish", arguments[0], session)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
            CountDownLatch served = new CountDownLatch(claims);
            for (int i = 0; i < claims; i++) {
                locks.lock(arguments[3])
                        .acquire()
                        .flatMap(LockLease::release)
                        .subscribe(ownership -> {}, error -> served.countDown(), served::countDown);
            }
            served.await();
            Waiting.forMono(locks.close());
        }
    }
}
