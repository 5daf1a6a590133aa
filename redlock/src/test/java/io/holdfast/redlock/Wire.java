package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The wire between one client and one master, in virtual time. The test decides how long each request and each reply
 * takes, and whether it gets lost. A request is on the wire once it was subscribed to: it arrives even if its
 * subscriber cancels.
 */
final class Wire implements ForwardingLockBackend {

    /** The fate of the next message. */
    enum Fate {
        ARRIVES,
        IS_LOST,
        /** The sender gets an error at once. */
        IS_REFUSED
    }

    private final Scheduler clock;

    /** The master at the other end; changes when a master comes back without its data. */
    Supplier<LockBackend> master;

    LongSupplier delayNanos = () -> 0;
    Supplier<Fate> fateOfRequest = () -> Fate.ARRIVES;
    Supplier<Fate> fateOfReply = () -> Fate.ARRIVES;
    int requests;

    Wire(Supplier<LockBackend> master, Scheduler clock) {
        this.master = master;
        this.clock = clock;
    }

    @Override
    public LockBackend delegate() {
        return master.get();
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return send(() -> delegate().tryAcquire(claim));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return send(() -> delegate().renew(claim));
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return send(() -> delegate().renewAll(claims).collectList()).flatMapIterable(it -> it);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return send(() -> delegate().release(claim));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.defer(() -> delegate().watch(claim)).delaySequence(Duration.ofNanos(delayNanos.getAsLong()), clock);
    }

    @Override
    public Mono<Void> ping() {
        return send(() -> delegate().ping().thenReturn(true)).then();
    }

    private <T> Mono<T> send(Supplier<Mono<T>> request) {
        return Mono.create(reply -> {
            requests++;
            Fate fate = fateOfRequest.get();
            if (fate == Fate.IS_REFUSED) {
                reply.error(new LockBackendException("", "connection refused", true, null));
            } else if (fate == Fate.ARRIVES) {
                after(
                        delayNanos.getAsLong(),
                        () -> request.get().subscribe(answer -> answer(answer, reply::success), reply::error));
            }
        });
    }

    private <T> void answer(T answer, java.util.function.Consumer<T> to) {
        if (fateOfReply.get() == Fate.ARRIVES) {
            after(delayNanos.getAsLong(), () -> to.accept(answer));
        }
    }

    private void after(long nanos, Runnable task) {
        if (nanos == 0) {
            task.run();
        } else {
            var unused = clock.schedule(task, nanos, TimeUnit.NANOSECONDS);
        }
    }
}
