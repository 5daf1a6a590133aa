package io.holdfast.cli.doctor;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes a lock of its own as applications do: one client holds it, another one waits for it, and gets it by the release. */
final class LockCycle {

    /** The longest time of a cycle, as a multiple of the time for one check. */
    static final int TIMES = 5;

    /** By then the other client has its place in the queue. */
    private static final Duration QUEUED = Duration.ofMillis(500);

    /** A client whose messages do not arrive finds the lock by its next attempt, two seconds after the last one. */
    private static final Duration SOON = Duration.ofMillis(800);

    private LockCycle() {}

    /** Makes two clients on back ends of their own, and closes them. */
    static Mono<Answer> run(Supplier<LockBackend> backends, String name, Duration patience) {
        return Mono.usingWhen(
                Mono.fromSupplier(() -> List.of(client(backends, patience), client(backends, patience))),
                clients -> cycle(clients.get(0).lock(name), clients.get(1).lock(name)),
                clients -> Flux.fromIterable(clients)
                        .flatMap(client -> client.close().timeout(patience).onErrorComplete())
                        .then());
    }

    private static LockClient client(Supplier<LockBackend> backends, Duration patience) {
        return LockClient.builder(backends.get())
                .owner("holdfast-doctor")
                .options(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(40))
                        .waitTimeout(patience.multipliedBy(2))
                        .build())
                .build();
    }

    private static Mono<Answer> cycle(ReactiveLock held, ReactiveLock wanted) {
        return held.acquire()
                .flatMap(lease -> Mono.zip(
                        wanted.acquire().elapsed(),
                        Mono.delay(QUEUED).then(lease.release()).thenReturn(true)))
                .flatMap(both -> {
                    Duration waited = Duration.ofMillis(both.getT1().getT1()).minus(QUEUED);
                    String found = "handed over %d ms after the release".formatted(Math.max(0, waited.toMillis()));
                    Answer answer = waited.compareTo(SOON) < 0
                            ? Answer.works(found)
                            : Answer.fails(found + ": the message of the release did not arrive");
                    return both.getT1().getT2().release().thenReturn(answer);
                });
    }
}
