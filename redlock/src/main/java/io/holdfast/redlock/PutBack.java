package io.holdfast.redlock;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Gives a lease back to a master that does not hold it: one that was away when the lock was won, or lost its data since.
 *
 * <p>Only while the lease is valid by the local clock, and only with the lease's own token. A master that answers with a higher one has
 * granted somebody else in between, so our lease must not be renewed there: that vote is released, and not asked for again.
 */
final class PutBack implements Poll.Clerk<LockAttempt> {

    private final Masters masters;
    private final Candidate candidate;
    private final int master;
    private final LockClaim look;
    private final long token;

    private PutBack(Masters masters, Candidate candidate, int master, LockClaim look, long token) {
        this.masters = masters;
        this.candidate = candidate;
        this.master = master;
        this.look = look;
        this.token = token;
    }

    static void start(Masters masters, Candidate candidate, LockClaim claim, int master) {
        long token = candidate.tokenToPutBack(master, masters.now());
        if (token == 0) {
            return;
        }
        LockClaim look = candidate.look(master, claim, Waiting.NONE, token);
        PutBack putBack = new PutBack(masters, candidate, master, look, token);
        Poll<LockAttempt> poll = new Poll<>(masters.size(), masters.limit(claim.lease()), Context.empty(), putBack);
        poll.ask(List.of(master), it -> Mono.defer(() -> masters.backend(it).tryAcquire(look)), masters.timer);
    }

    @Override
    public void heard(int from, LockAttempt answer) {
        candidate.answered(master, look);
        candidate.putBackEnded(master);
        if (answer instanceof LockAttempt.Contended) {
            return;
        }
        boolean isLater = !(answer instanceof LockAttempt.Acquired acquired) || acquired.fencingToken() != token;
        if (isLater) {
            candidate.outrun(master);
        } else {
            candidate.heldAt(master);
        }
        if (isLater || candidate.isClosed() || !candidate.isHeld()) {
            masters.cleanup.release(master, candidate.retire(master, look));
        }
    }

    /** Whether it is back there is unknown; the next renewal tells. */
    @Override
    public void failed(int from, Throwable why) {
        candidate.putBackEnded(master);
    }
}
