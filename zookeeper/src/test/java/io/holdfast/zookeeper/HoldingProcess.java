package io.holdfast.zookeeper;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;

/** A process that holds a lock, and prints all the time whether it believes that it holds. */
final class HoldingProcess {

    private HoldingProcess() {}

    public static void main(String[] arguments) throws InterruptedException {
        Duration session = Duration.ofMillis(Long.parseLong(arguments[1]));
        try (CuratorFramework curator = Store.connect("paused", arguments[0], session)) {
            LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
            LockLease lease = Waiting.forMono(locks.lock("paused").acquire());
            say("held " + lease.fencingToken());
            lease.onLoss().subscribe(reason -> say("lost " + reason));
            boolean isValid = true;
            while (isValid) {
                long before = System.nanoTime(); // the same clock in all processes of a Linux machine
                isValid = lease.isValid();
                say((isValid ? "valid " : "invalid ") + before);
                Thread.sleep(10);
            }
            lease.onLoss().toFuture().join();
            LockLease next = locks.lock("paused").acquire().toFuture().join();
            say("again " + next.fencingToken());
            Waiting.forMono(next.release());
            Waiting.forMono(locks.close());
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
