package io.holdfast.redlock;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Gives a lease back to a master that does not hold it: one that was away when the lock was won, did not hear of renewals, or lost its data.
 *
 * <p>Only behind a renewal that a majority has confirmed by itself, and only while the lease is valid by the local clock. So a lease that
 * another owner has interrupted is never continued, even where masters voted that should have stayed away: that owner had a majority which
 * did not hold our lease, and nothing is put back there before our next renewal finds no majority any more.
 *
 * <p>The master usually grants it with a later token, by its clock or its counter. The lease keeps its own; what the next owner gets there
 * is higher than both.
 */
final class PutBack implements ResponseHandler<LockAttempt> {

    private final Masters masters;
    private final Candidate candidate;
    private final int master;
    private final LockClaim look;

    private PutBack(Masters masters, Candidate candidate, int master, LockClaim look) {
        this.masters = masters;
        this.candidate = candidate;
        this.master = master;
        this.look = look;
    }

    static void start(Masters masters, Candidate candidate, LockClaim claim, int master) {
        LockClaim look = candidate.lookToPutBack(master, claim, masters.now());
        if (look == null) {
            return;
        }
        PutBack putBack = new PutBack(masters, candidate, master, look);
        QuorumRequest<LockAttempt> request =
                new QuorumRequest<>(masters, List.of(master), masters.limits(claim.lease()), Context.empty(), putBack);
        request.ask(it -> Mono.defer(() -> masters.backend(it).tryAcquire(look)));
    }

    @Override
    public void heard(int from, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(look, said);
        if (answer == null) {
            failed(from, PlausibleAnswers.absurd(said));
            return;
        }
        candidate.answered(master, look);
        candidate.putBackEnded(master);
        if (answer instanceof LockAttempt.Contended) {
            return;
        }
        if (answer instanceof LockAttempt.Acquired acquired) {
            candidate.grantedAt(master, acquired.fencingToken());
        }
        if (!candidate.isHeld()) {
            masters.cleanup.release(master, candidate.retire(master, look)); // released or lost meanwhile
        }
    }

    /** Whether it is back there is unknown; the next renewal tells. */
    @Override
    public void failed(int from, Throwable why) {
        candidate.putBackEnded(master);
        if (BallotBox.abstention(why).isPresent()) {
            candidate.answered(master, look); // it did nothing, and may not yet
            return;
        }
        if (!candidate.isHeld()) {
            masters.cleanup.release(master, candidate.retire(master, look)); // nobody renews it any more
        }
    }
}
