package io.holdfast.proof.sim;

import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.proof.sim.RunTrace.Seen;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The store as one client uses it: notes each request about the mutex that is traced, with the lock before and after it.
 *
 * @param delegate the store, which answers at once
 * @param client the number of the client, from 0
 */
record TracedStore(LockBackend delegate, LockInspector inspector, RunTrace trace, int client)
        implements ForwardingLockBackend {

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return noted(
                claim,
                delegate.tryAcquire(claim),
                before -> answer -> trace.joined(client, claim, answer, before, seen()));
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return noted(claim, delegate.renew(claim), before -> answer -> trace.renewed(claim, seen()));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        if (trace.isOf(claim.key())) {
            trace.end("an adoption");
        }
        return delegate.adopt(claim, fencingToken);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return noted(claim, delegate.release(claim), before -> answer -> trace.left(claim, before, seen()));
    }

    @Override
    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return noted(
                claim,
                delegate.endRun(claim, number, served),
                before -> answer -> trace.endedRun(client, number, served, answer, before, seen()));
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return !trace.isOf(claim.key())
                ? delegate.watch(claim)
                : delegate.watch(claim)
                        .doOnSubscribe(s -> trace.watched(claim))
                        .doFinally(s -> trace.unwatched(claim))
                        .doOnNext(signal -> trace.signalled(client, claim, signal));
    }

    private interface After<A> {
        void note(A answer);
    }

    private <A> Mono<A> noted(LockClaim claim, Mono<A> request, Function<Seen, After<A>> after) {
        return Mono.defer(() -> {
            if (!trace.isOf(claim.key())) {
                return request;
            }
            Seen before = seen();
            trace.passes(before);
            After<A> then = after.apply(before);
            return request.doOnNext(then::note);
        });
    }

    /** Reads the lock, and changes nothing. */
    private Seen seen() {
        LockReport report = inspector
                .inspect(trace.lock())
                .filter(it -> it.type() == LockReport.Type.MUTEX)
                .blockFirst();
        if (report == null) {
            return Seen.FREE;
        }
        if (report.waiterCount() > LockReport.MOST_WAITERS) {
            trace.end("more waiters than a report shows");
        }
        Set<String> waiters = report.waiters().stream().map(LockWaiter::claimId).collect(Collectors.toSet());
        return report.isHeld()
                ? new Seen(
                        report.lastToken().orElseThrow(),
                        report.holders().get(0).claimId(),
                        waiters)
                : new Seen(0, "", waiters);
    }
}
