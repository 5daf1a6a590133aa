package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.history.HistoryRecorder;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/** A loop in a client: it acquires a lock, holds it for a while, releases it, and starts again. A client has several lanes. */
final class Lane {

    /** One hold in this many is long: several renewals, and sometimes a fault, fall into it. */
    private static final int LONG_HOLDS = 40;

    private static final int SHORT_HOLD_MILLIS = 30;
    private static final int PAUSE_MILLIS = 60;

    private final LockClient client;
    private final Register register;
    private final HistoryRecorder recorder;
    private final Set<Operation> current;
    private final List<Resource> resources;
    private final Duration lease;
    private final Random random;
    private final String process;

    Lane(
            ClientOrder order,
            LockClient client,
            Register register,
            HistoryRecorder recorder,
            Set<Operation> current,
            int number) {
        this.client = client;
        this.register = register;
        this.recorder = recorder;
        this.current = current;
        resources = Resource.all(order.address().terms().target());
        lease = order.address().terms().lease();
        random = new Random(order.seed() * 1_000 + number);
        process = order.name();
    }

    /** Runs until {@code stop}, and then until the current operation has ended. */
    Mono<Void> run(BooleanSupplier goesOn) {
        return Mono.defer(this::once)
                .onErrorComplete() // The history notes it.
                .then(Mono.defer(() -> Mono.delay(Duration.ofMillis(random.nextInt(PAUSE_MILLIS)))))
                .repeat(goesOn)
                .then();
    }

    private Mono<Void> once() {
        Resource resource = resources.get(random.nextInt(resources.size()));
        Way way = Way.values()[random.nextInt(Way.values().length)];
        Duration impatience = Duration.ofMillis(1 + random.nextInt((int) lease.toMillis() / 4));
        Duration waitTimeout = way == Way.TIMED ? impatience : lease.multipliedBy(1 + random.nextInt(3));
        ReactiveLock lock = resource.of(client)
                .with(LockOptions.builder()
                        .leaseDuration(lease)
                        .waitTimeout(waitTimeout)
                        // Otherwise most renewals would come in time after a fault.
                        .autoRenew(random.nextBoolean())
                        .build());
        Duration hold = hold(resource);
        Operation operation = Operation.ask(recorder, resource);
        current.add(operation);
        return ask(way, lock, held -> work(resource, operation, held, hold), operation, impatience)
                .doOnError(operation::failed)
                .doOnCancel(() -> {
                    operation.leaves();
                    operation.ended("cancelled");
                })
                .doFinally(unused -> current.remove(operation));
    }

    private Duration hold(Resource resource) {
        boolean isLong = resource.isCoveted() || random.nextInt(LONG_HOLDS) == 0;
        long most = isLong ? lease.toMillis() * 3 / 2 : SHORT_HOLD_MILLIS;
        return Duration.ofMillis((long) (random.nextDouble() * most));
    }

    /** How a pipeline may use a lock. */
    private enum Way {
        WITH_LOCK,
        ACQUIRE,
        TIMED,
        TRY,
        IMPATIENT,
        DROPPED
    }

    private Mono<Void> ask(Way way, ReactiveLock lock, Work work, Operation operation, Duration impatience) {
        return switch (way) {
            case WITH_LOCK -> scoped(lock, work, operation);
            case ACQUIRE, TIMED -> lock.acquire().flatMap(held -> byHand(held, work, operation));
            case TRY ->
                lock.tryAcquire()
                        .switchIfEmpty(Mono.fromRunnable(() -> operation.ended("empty")))
                        .flatMap(held -> byHand(held, work, operation));
            // Cancels the wait or the work.
            case IMPATIENT -> scoped(lock, work, operation).timeout(impatience);
            // The operator drops a lease that arrives in the last moment. Only the library can release it.
            case DROPPED -> lock.acquire().timeout(impatience).flatMap(held -> byHand(held, work, operation));
        };
    }

    /** Notes the cancellation downstream of the lock, so before the lock gets it. */
    private static Mono<Void> scoped(ReactiveLock lock, Work work, Operation operation) {
        return lock.withLock(held -> {
                    operation.got(held);
                    return work.with(held).doOnTerminate(operation::leaves);
                })
                .doOnCancel(operation::leaves)
                .doOnSuccess(unused -> operation.gave());
    }

    private static Mono<Void> byHand(LockLease held, Work work, Operation operation) {
        operation.got(held);
        Mono<Void> lost = held.onLoss().doOnNext(operation::lost).then();
        return Mono.firstWithSignal(work.with(held), lost).onErrorComplete().then(Mono.defer(() -> {
            operation.leaves();
            return held.release().doOnSuccess(unused -> operation.gave());
        }));
    }

    /** The work under the lock. */
    private interface Work {
        Mono<Void> with(LockLease held);
    }

    private Mono<Void> work(Resource resource, Operation operation, LockLease held, Duration hold) {
        Mono<Void> pause = Mono.delay(hold).then();
        if (!resource.isExclusive()) {
            return pause;
        }
        return register.increment(resource, held, process + "#" + operation.number(), pause)
                .onErrorResume(unreachable -> pause);
    }
}
