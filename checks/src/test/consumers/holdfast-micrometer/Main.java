import io.holdfast.LockClient;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.micrometer.LockMetrics;
import io.holdfast.spi.LockBackend;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import reactor.core.publisher.Mono;

final class Main {

    public static void main(String[] arguments) {
        MeterRegistry meters = new SimpleMeterRegistry();
        LockBackend memory = InMemoryLockBackend.create();
        LockClient locks =
                LockClient.builder(memory).listener(LockMetrics.of(meters, memory)).build();
        long token = locks.lock("stock/42")
                .withLock(lease -> Mono.just(lease.fencingToken()))
                .block();
        locks.close().block();
        if (meters.getMeters().isEmpty()) {
            throw new AssertionError("nothing was measured");
        }
        System.out.println("held with token " + token);
    }
}
