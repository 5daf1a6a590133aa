package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A back end whose requests and replies are lost, late or doubled, as its programs say:
 *
 * <pre>{@code
 * FaultyLockBackend faulty = FaultyLockBackend.over(store, timer);
 * faulty.on(Operation.RENEW).next(Fault.lostReply());
 * faulty.on(Operation.TRY_ACQUIRE).always(Fault.delayedRequest(Duration.ofMillis(50)));
 * }</pre>
 *
 * <p>By default a request cannot be recalled after its subscription: a cancellation does not stop a delayed one.
 * Thread-safe.
 */
public final class FaultyLockBackend implements ForwardingLockBackend {

    /** The operations that can fail. */
    public enum Operation {
        /** {@link LockBackend#tryAcquire}. */
        TRY_ACQUIRE,
        /** {@link LockBackend#renew}, alone or as part of {@link LockBackend#renewAll}, and {@link LockBackend#adopt}. */
        RENEW,
        /** {@link LockBackend#release} and {@link LockBackend#endRun}. */
        RELEASE,
        /** {@link LockBackend#ping}. */
        PING
    }

    private final LockBackend delegate;
    private final Scheduler timer;
    private final Map<Operation, FaultProgram> programs = new EnumMap<>(Operation.class);

    /** Written by the test. */
    private volatile boolean cancelRecalls;

    /** Written by the test. */
    private volatile Predicate<? super WatchSignal> isLost = signal -> false;

    private FaultyLockBackend(LockBackend delegate, Scheduler timer) {
        this.delegate = requireNonNull(delegate, "delegate");
        this.timer = requireNonNull(timer, "timer");
        for (Operation operation : Operation.values()) {
            programs.put(operation, new FaultProgram());
        }
    }

    /**
     * Makes a back end without faults.
     *
     * @param delegate the back end that does the work
     * @param timer measures delays
     * @return a back end
     */
    public static FaultyLockBackend over(LockBackend delegate, Scheduler timer) {
        return new FaultyLockBackend(delegate, timer);
    }

    /**
     * Returns the program of an operation.
     *
     * @param operation the operation
     * @return its program and counter
     */
    public FaultProgram on(Operation operation) {
        return requireNonNull(programs.get(operation));
    }

    /**
     * Sets whether a cancellation recalls a request that has not reached the back end yet, as a client does with its
     * own queue.
     *
     * @param recalls default false: the request cannot be recalled
     */
    public void cancelRecalls(boolean recalls) {
        cancelRecalls = recalls;
    }

    /**
     * Sets which signals of watches are lost from now on.
     *
     * @param lost returns true for a signal to lose
     */
    public void loseSignals(Predicate<? super WatchSignal> lost) {
        isLost = requireNonNull(lost, "lost");
    }

    /** Removes all faults. Requests that are under way keep theirs. */
    public void heal() {
        programs.values().forEach(FaultProgram::none);
        isLost = signal -> false;
    }

    @Override
    public LockBackend delegate() {
        return delegate;
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return send(Operation.TRY_ACQUIRE, claim.key().name(), delegate.tryAcquire(claim));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return send(Operation.RENEW, claim.key().name(), delegate.renew(claim));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return send(Operation.RENEW, claim.key().name(), delegate.adopt(claim, fencingToken));
    }

    /**
     * {@inheritDoc} Renews the claims one by one, each with its own fault. A failed one is {@link Renewal.Unknown}, and
     * the others are not.
     */
    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.fromIterable(claims)
                .flatMapSequential(claim ->
                        renew(claim).onErrorResume(LockBackendException.class, e -> Mono.just(new Renewal.Unknown(e))));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return send(Operation.RELEASE, claim.key().name(), delegate.release(claim));
    }

    @Override
    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return send(Operation.RELEASE, claim.key().name(), delegate.endRun(claim, number, served));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return delegate.watch(claim).filter(signal -> !isLost.test(signal));
    }

    @Override
    public Mono<Void> ping() {
        return send(Operation.PING, "", delegate.ping());
    }

    private <T> Mono<T> send(Operation operation, String lockName, Mono<T> request) {
        return Mono.defer(() -> {
            Fault fault = on(operation).take();
            Mono<T> answer = onTheWire(carriedOut(fault, request), fault);
            return replied(fault, answer, operation, lockName);
        });
    }

    private <T> Mono<T> carriedOut(Fault fault, Mono<T> request) {
        if (!fault.reaches()) {
            return Mono.empty();
        }
        Mono<T> first = Mono.defer(() -> {
            for (int copy = 0; copy < fault.copies(); copy++) {
                launch(after(fault.copyDelay(), request));
            }
            return request;
        });
        return after(fault.requestDelay(), first);
    }

    private <T> Mono<T> onTheWire(Mono<T> request, Fault fault) {
        if (cancelRecalls || fault.requestDelay().isZero()) {
            return request;
        }
        return Mono.create(reply -> {
            // Has no owner on purpose: it reaches the back end even if its sender cancels.
            Disposable underWay = request.subscribe(reply::success, reply::error, reply::success);
            requireNonNull(underWay);
        });
    }

    private <T> Mono<T> replied(Fault fault, Mono<T> answer, Operation operation, String lockName) {
        return switch (fault.reply()) {
            case ANSWER -> fault.replyDelay().isZero() ? answer : answer.delayElement(fault.replyDelay(), timer);
            case SILENCE -> answer.then(Mono.never());
            case TRANSIENT_ERROR -> answer.then(after(fault.replyDelay(), failed(operation, lockName, true)));
            case PERMANENT_ERROR -> answer.then(after(fault.replyDelay(), failed(operation, lockName, false)));
        };
    }

    private <T> Mono<T> after(Duration delay, Mono<T> next) {
        return delay.isZero() ? next : Mono.delay(delay, timer).then(next);
    }

    /** Ignores the answers and failures of copies. */
    private static void launch(Mono<?> request) {
        Disposable underWay = request.subscribe(answer -> {}, error -> {});
        requireNonNull(underWay);
    }

    private static <T> Mono<T> failed(Operation operation, String lockName, boolean isTransient) {
        return Mono.error(() -> new LockBackendException(
                lockName, "injected fault: %s of lock '%s'".formatted(operation, lockName), isTransient, null));
    }
}
