import io.holdfast.LockClient;
import io.holdfast.blocking.BlockingLocks;
import io.holdfast.memory.InMemoryLockBackend;

final class Main {

    public static void main(String[] arguments) throws Exception {
        LockClient client = LockClient.create(InMemoryLockBackend.create());
        long token = BlockingLocks.of(client).lock("stock/42").withLock(lease -> lease.fencingToken());
        System.out.println("held with token " + token);
        client.close().block();
    }
}
