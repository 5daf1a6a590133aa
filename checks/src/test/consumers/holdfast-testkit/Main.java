import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The example of docs/guides/testing.md: the first answer is lost, and the client still gets the lock. */
final class Main {

    public static void main(String[] arguments) {
        FaultyLockBackend faulty = FaultyLockBackend.over(InMemoryLockBackend.create(), Schedulers.parallel());
        faulty.on(FaultyLockBackend.Operation.TRY_ACQUIRE).next(Fault.lostReply());
        LockClient locks =
                LockClient.builder(faulty).operationTimeout(Duration.ofMillis(200)).build();
        System.out.println("held with token "
                + locks.lock("stock/42")
                        .withLock(lease -> Mono.just(lease.fencingToken()))
                        .block());
        locks.close().block();
    }
}
