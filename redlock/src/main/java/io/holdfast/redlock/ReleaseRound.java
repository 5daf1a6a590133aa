package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Ends a claim at all masters, and answers when a majority has said that it was held, or that it was not. When neither can be reached,
 * the outcome is unknown: asked once more, those that ended it say that it is not held, and that is a majority. Masters that fail are asked
 * again in the background. A claim that this client knows not to have won is not held, whatever single votes it had.
 */
final class ReleaseRound implements ResponseHandler<Ownership> {

    private final Masters masters;
    private final Candidates candidates;
    private final Candidate candidate;
    private final LockClaim claim;
    private final MonoSink<Ownership> sink;
    private final List<LockClaim> there = new ArrayList<>();

    /** Votes of a look that was not won: they are given up, but they were no lock. */
    private final boolean wasNeverWon;

    // All below: guarded by this.
    private final BallotBox ballots;
    private Tally tally;

    private boolean asking = true;
    private boolean decided;

    private ReleaseRound(Masters masters, Candidates candidates, LockClaim claim, MonoSink<Ownership> sink) {
        this.masters = masters;
        this.candidates = candidates;
        this.claim = claim;
        this.sink = sink;
        long now = masters.now();
        candidate = candidates.known(claim, now);
        wasNeverWon = candidate.isNeverWon();
        ballots = new BallotBox(masters, now);
        tally = Tally.none(masters.size());
    }

    static Mono<Ownership> ask(Masters masters, Candidates candidates, LockClaim claim) {
        return Mono.create(sink -> new ReleaseRound(masters, candidates, claim, sink).start());
    }

    private void start() {
        AcquireRound underWay = candidate.close();
        for (int master : masters.all()) {
            boolean isAwaited = underWay != null && underWay.isAwaiting(master);
            there.add(candidate.toRelease(master, claim, isAwaited));
        }
        QuorumRequest<Ownership> request = new QuorumRequest<>(
                masters, masters.all(), masters.limits(claim.lease()), Context.of(sink.contextView()), this);
        // Not stopped by a cancellation: a release under way is wanted, whoever waits for it.
        request.ask(master -> masters.backend(master).release(there.get(master)));
        synchronized (this) {
            asking = false;
        }
        settle();
    }

    @Override
    public void heard(int master, Ownership answer) {
        synchronized (this) {
            ballots.put(master, answer);
            tally = answer == Ownership.HELD && !wasNeverWon ? tally.plusYes() : tally.plusNo();
        }
        settle();
    }

    @Override
    public void failed(int master, Throwable why) {
        synchronized (this) {
            ballots.put(master, why);
            tally = tally.plusFailed();
        }
        masters.cleanup.releaseAgain(master, there.get(master));
        settle();
    }

    private void settle() {
        Tally.Decision decision;
        synchronized (this) {
            decision = tally.ofStanding();
            if (asking || decided || decision == Tally.Decision.OPEN) {
                return;
            }
            decided = true;
        }
        if (decision == Tally.Decision.UNKNOWN) {
            Vote vote = vote(Vote.Outcome.UNKNOWN);
            masters.tell(vote);
            sink.error(undecided(vote));
            return;
        }
        candidates.forget(candidate);
        boolean held = decision == Tally.Decision.YES;
        if (masters.isListening()) {
            masters.tell(vote(held ? Vote.Outcome.YES : Vote.Outcome.NO));
        }
        sink.success(held ? Ownership.HELD : Ownership.NOT_HELD);
    }

    private synchronized LockBackendException undecided(Vote vote) {
        return masters.undecided(claim.key().name(), vote, ballots);
    }

    private synchronized Vote vote(Vote.Outcome outcome) {
        return ballots.vote(claim.key().name(), Vote.Question.RELEASE, outcome, 1);
    }
}
