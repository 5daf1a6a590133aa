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
 * Restores a lease at a master that does not hold it: the master was unreachable when the lock was won, missed
 * renewals, or lost its data. It does the same at a master that holds the lease, if the client has not seen the answer to
 * its last attempt there. That master may have missed a downgrade.
 *
 * <p>It runs only after a renewal that a majority has confirmed without it, and only while the lease is valid by the
 * local clock. So it does not continue a lease that another owner has interrupted, even if masters voted that should
 * have abstained. That owner had a majority which did not hold this client's lease. Nothing more is restored there
 * before this client's next renewal finds no majority any more. The exception is an owner that got and released the
 * lock while the restoration, or the answers to the renewal before it, were under way.
 *
 * <p>The master usually grants the lease with a later token, by its clock or its counter. The lease keeps its own
 * token; the next owner gets a higher one than both there.
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
                masters, List.of(master), masters.limit(claim.lease()), Context.empty(), restoration);
        request.send(it -> Mono.defer(() -> masters.backend(it).tryAcquire(attempt)));
    }

    @Override
    public void heard(int from, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(attempt, said);
        if (answer == null) {
            failed(from, PlausibleAnswers.absurd(attempt, said));
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
        undoIfLost();
    }

    /** The outcome at the master is unknown; the next renewal shows it. */
    @Override
    public void failed(int from, Throwable why) {
        state.restorationEnded(master);
        if (VoteRecord.abstention(why).isPresent()) {
            state.answered(master, attempt); // it did nothing, and may not vote yet
            return;
        }
        undoIfLost();
    }

    /** Only after a loss: a release ends the claim at all masters, and must find it there. */
    private void undoIfLost() {
        if (!state.isHeld() && !state.isClosed()) {
            masters.releases().release(master, state.retire(master, attempt));
        }
    }
}
