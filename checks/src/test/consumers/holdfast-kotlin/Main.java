import io.holdfast.LockClient;
import io.holdfast.kotlin.LocksKt;
import io.holdfast.memory.InMemoryLockBackend;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;

/** Compiled by Java's compiler, which has no suspending functions. So this class passes the continuation itself. */
final class Main {

    public static void main(String[] arguments) throws InterruptedException {
        LockClient locks = LockClient.create(InMemoryLockBackend.create());
        Object token = BuildersKt.runBlocking(
                EmptyCoroutineContext.INSTANCE,
                (scope, continuation) -> LocksKt.<Long>withLockAndAwait(
                        locks.lock("stock/42"),
                        (inside, lease, end) -> lease.fencingToken(),
                        continuation));
        System.out.println("held with token " + token);
        locks.close().block();
    }
}
