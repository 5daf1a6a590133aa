import io.holdfast.LossReason;
import io.holdfast.test.Rival;
import io.holdfast.test.TestLocks;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/** The example of docs/guides/testing.md without JUnit: a rival releases the lock, and the next owner loses it. */
final class Main {

    public static void main(String[] arguments) {
        TestLocks locks = TestLocks.virtualTime();
        Rival rival = locks.holdElsewhere("stock/42");
        CompletableFuture<Long> work = locks.client()
                .lock("stock/42")
                .withLock(lease -> Mono.delay(Duration.ofHours(1), locks.scheduler()))
                .toFuture();
        rival.release();
        locks.advance(Duration.ofMinutes(59));
        System.out.println("held with token " + locks.held("stock/42").fencingToken());
        locks.held("stock/42").lose(LossReason.NOT_HELD);
        if (!work.isCompletedExceptionally()) {
            throw new AssertionError("not lost");
        }
    }
}
