package io.holdfast.cli.doctor;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** Takes a lock of its own as applications do: one client holds it, another one waits for it, and gets it by the release. */
final class LockCycle {

    /** By then the other client has its place in the queue. */
    private static final Duration QUEUED = Duration.ofMillis(500);

    /** A client whose messages do not arrive finds the lock by its next attempt, two seconds after the last one. */
    private static final Duration SOON = Duration.ofMillis(800);

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private static final Check LOCK = Check.needed(
            "a lock is taken and handed over",
            "Applications cannot take locks, or waiters get them late.",
            "See the checks above.");

    private LockCycle() {}

    /** Makes two clients on back ends of their own, and closes them. */
    static Mono<Finding> run(Supplier<LockBackend> backends, String name) {
        return LOCK.ask(
                Mono.usingWhen(
                        Mono.fromSupplier(() -> client(backends)),
                        holder -> Mono.usingWhen(
                                Mono.fromSupplier(() -> client(backends)),
                                waiter -> cycle(holder, waiter, name),
                                LockCycle::close),
                        LockCycle::close),
                LIMIT.plus(Check.PATIENCE));
    }

    private static LockClient client(Supplier<LockBackend> backends) {
        return LockClient.builder(backends.get())
                .owner("holdfast-doctor")
                .options(LockOptions.builder()
                        .leaseDuration(LIMIT.multipliedBy(2))
                        .waitTimeout(LIMIT.dividedBy(2))
                        .build())
                .build();
    }

    private static Mono<Void> close(LockClient client) {
        return client.close().timeout(Check.PATIENCE).onErrorComplete();
    }

    private static Mono<Finding> cycle(LockClient holder, LockClient waiter, String name) {
        return holder.lock(name)
                .acquire()
                .flatMap(held -> Mono.zip(
                        waiter.lock(name).acquire().elapsed(),
                        Mono.delay(QUEUED).then(held.release()).thenReturn(true)))
                .flatMap(both -> {
                    Duration waited = Duration.ofMillis(both.getT1().getT1()).minus(QUEUED);
                    LockLease next = both.getT1().getT2();
                    String found = "handed over %d ms after the release".formatted(Math.max(0, waited.toMillis()));
                    return next.release()
                            .thenReturn(
                                    waited.compareTo(SOON) < 0
                                            ? LOCK.works(found)
                                            : LOCK.fails(found + ": the message of the release did not arrive"));
                });
    }
}
