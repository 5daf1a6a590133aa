package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.redlock.internal.master.ResponseHandler;
import io.holdfast.redlock.internal.quorum.PlausibleAnswers;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Restores a lease at a master that does not hold it: one that was away when the lock was won, did not hear of renewals, or lost its data.
 *
 * <p>Only behind a renewal that a majority has confirmed by itself, and only while the lease is valid by the local clock. So a lease that
 * another owner has interrupted is never continued, even where masters voted that should have stayed away: that owner had a majority which
 * did not hold our lease, and nothing is restored there before our next renewal finds no majority any more.
 *
 * <p>The master usually grants it with a later token, by its clock or its counter. The lease keeps its own; what the next owner gets there
 * is higher than both.
 */
public final class LeaseRestoration implements ResponseHandler<LockAttempt> {

    private final Masters masters;
    private final ClaimState state;
    private final int master;
    private final LockClaim attempt;

    private LeaseRestoration(Masters masters, ClaimState state, int master, LockClaim attempt) {
        this.masters = masters;
        this.state = state;
        this.master = master;
        this.attempt = attempt;
    }

    static void start(Masters masters, ClaimState state, LockClaim claim, int master) {
        LockClaim attempt = state.attemptToRestore(master, claim, masters.now());
        if (attempt == null) {
            return;
        }
        LeaseRestoration restoration = new LeaseRestoration(masters, state, master, attempt);
        QuorumRequest<LockAttempt> request = new QuorumRequest<>(
                masters, List.of(master), masters.limits(claim.lease()), Context.empty(), restoration);
        request.ask(it -> Mono.defer(() -> masters.backend(it).tryAcquire(attempt)));
    }

    @Override
    public void heard(int from, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(attempt, said);
        if (answer == null) {
            failed(from, PlausibleAnswers.absurd(said));
            return;
        }
        state.answered(master, attempt);
        state.restorationEnded(master);
        if (answer instanceof LockAttempt.Contended) {
            return;
        }
        if (answer instanceof LockAttempt.Acquired acquired) {
            state.grantedAt(master, acquired.fencingToken());
        }
        if (!state.isHeld()) {
            masters.releases().release(master, state.retire(master, attempt)); // released or lost meanwhile
        }
    }

    /** Whether it is back there is unknown; the next renewal tells. */
    @Override
    public void failed(int from, Throwable why) {
        state.restorationEnded(master);
        if (VoteRecord.abstention(why).isPresent()) {
            state.answered(master, attempt); // it did nothing, and may not yet
            return;
        }
        if (!state.isHeld()) {
            masters.releases().release(master, state.retire(master, attempt)); // it is not renewed any more
        }
    }
}
