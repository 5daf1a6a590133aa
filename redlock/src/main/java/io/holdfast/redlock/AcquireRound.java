package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * One look: asks all masters, does what the {@link Election} says, and answers when that is decided. Answers that come later are still
 * heard: a yes to a won look stays, since that master then holds the claim as well; a yes to a lost one is undone, and so is everything
 * whose outcome is unknown.
 *
 * <p>Decides within its monitor, acts outside of it.
 */
final class AcquireRound implements ResponseHandler<LockAttempt> {

    private final Masters masters;
    private final Candidates candidates;
    private final Candidate candidate;
    private final LockClaim claim;
    private final MonoSink<LockAttempt> sink;
    private final Context context;
    private final long askedAtNanos;
    private final long proposal;
    private final TimeLimits limits;
    private final boolean wasHeld;

    // All below: guarded by this.
    private final Election election;
    private final BallotBox ballots;
    private final @Nullable LockClaim[] looks;

    @SuppressWarnings({"unchecked", "rawtypes"}) // no array of a generic type can be made otherwise
    private final @Nullable QuorumRequest<LockAttempt>[] requests;

    private boolean asking = true;
    private boolean left;
    private Election.@Nullable Next outcome;

    @SuppressWarnings({"unchecked", "rawtypes"})
    AcquireRound(
            Masters masters, Candidates candidates, Candidate candidate, LockClaim claim, MonoSink<LockAttempt> sink) {
        this.masters = masters;
        this.candidates = candidates;
        this.candidate = candidate;
        this.claim = claim;
        this.sink = sink;
        context = Context.of(sink.contextView());
        askedAtNanos = masters.now();
        limits = masters.limits(claim.lease());
        long present = candidate.token();
        wasHeld = present != 0;
        // A claim that holds the lock keeps its token, unless its owner wants a higher one.
        proposal = wasHeld ? Math.max(present, claim.tokenFloor()) : masters.proposedFloor(claim.tokenFloor());
        election = wasHeld ? Election.ofHolder(proposal, candidate.tokens()) : Election.of(masters.size());
        ballots = new BallotBox(masters, askedAtNanos);
        looks = new LockClaim[masters.size()];
        requests = new QuorumRequest[masters.size()];
    }

    void start() {
        AcquireRound before = candidate.begin(this, askedAtNanos);
        if (before != null) {
            before.giveWay();
        }
        sink.onCancel(this::leave);
        if (before == null && hasLeft()) {
            candidates.forget(candidate);
            return;
        }
        Waiting waiting = claim.waiting() == Waiting.NONE ? Waiting.NONE : Waiting.NOTIFY;
        ask(masters.all(), waiting, proposal);
    }

    private void ask(List<Integer> some, Waiting waiting, long floor) {
        QuorumRequest<LockAttempt> request = new QuorumRequest<>(masters, some, limits, context, this);
        synchronized (this) {
            some.forEach(master -> requests[master] = request);
        }
        request.ask(master -> look(master, waiting, floor));
        synchronized (this) {
            asking = false;
        }
        settle();
    }

    private Mono<LockAttempt> look(int master, Waiting waiting, long floor) {
        LockClaim look;
        synchronized (this) {
            look = left ? null : candidate.look(this, master, claim, waiting, floor);
            if (look != null) {
                looks[master] = look;
            }
        }
        return look == null
                ? Mono.error(new IllegalStateException("not asked: the look is over"))
                : masters.backend(master).tryAcquire(look);
    }

    @Override
    public void heard(int master, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(claim, said);
        if (answer == null) {
            failed(master, PlausibleAnswers.absurd(said));
            return;
        }
        boolean undo;
        synchronized (this) {
            candidate.answered(master, sent(master));
            ballots.put(master, answer);
            election.heard(master, answer);
            undo = outcome != null && hasToBeUndone(master);
        }
        if (answer instanceof LockAttempt.Acquired acquired) {
            candidate.grantedAt(master, acquired.fencingToken());
        }
        if (undo || answer instanceof LockAttempt.Queued) {
            undo(master); // a place in a queue was not asked for
        }
        settle();
    }

    @Override
    public void failed(int master, Throwable why) {
        boolean undo;
        synchronized (this) {
            ballots.put(master, why);
            if (BallotBox.abstention(why).isPresent()) {
                candidate.answered(master, sent(master));
                election.abstained(master);
            } else {
                election.failed(master);
            }
            undo = outcome != null && hasToBeUndone(master);
        }
        if (undo) {
            undo(master);
        }
        settle();
    }

    private boolean hasToBeUndone(int master) {
        return !keepsWhatItHeld()
                && !(outcome instanceof Election.Next.Won)
                && !election.hasRefused(master)
                && !election.isPending(master);
    }

    /** A holder that looks again, and hears from too few masters, may hold the lock as before. Its owner releases it, or it ends by itself. */
    private boolean keepsWhatItHeld() {
        return wasHeld && !(outcome instanceof Election.Next.Lost);
    }

    private void settle() {
        Election.Next next;
        synchronized (this) {
            if (asking || outcome != null) {
                return;
            }
            next = left || candidate.isClosed() ? new Election.Next.Lost() : election.next();
            if (next instanceof Election.Next.Won won
                    && !candidate.held(won.token(), Masters.validUntil(askedAtNanos, won.lease()))) {
                next = new Election.Next.Lost();
            }
            if (next instanceof Election.Next.Raise) {
                asking = true;
            } else if (!(next instanceof Election.Next.Open)) {
                outcome = next;
            }
        }
        act(next);
    }

    private void act(Election.Next next) {
        if (next instanceof Election.Next.Raise raise) {
            ask(raise.masters(), Waiting.NONE, raise.token());
        } else if (next instanceof Election.Next.Won won) {
            masters.granted(highestGranted(), proposal);
            tell(Vote.Outcome.YES);
            sink.success(new LockAttempt.Acquired(won.token(), won.lease()));
        } else if (next instanceof Election.Next.Lost) {
            lost();
        } else if (next instanceof Election.Next.Failed) {
            ended(false);
            Vote vote = vote(Vote.Outcome.UNKNOWN);
            masters.tell(vote);
            sink.error(undecided(vote));
        }
    }

    private void lost() {
        boolean split = granted() > 0;
        ended(split);
        tell(Vote.Outcome.NO);
        double random = masters.random.getAsDouble();
        Duration within = split
                ? Pauses.inACrowd(candidate.crowd(), candidate.roundNanos(), random)
                : Pauses.whileHeld(claim.attempt(), freeWithin(), random);
        sink.success(new LockAttempt.Contended(within));
    }

    private void ended(boolean split) {
        boolean keeps;
        synchronized (this) {
            keeps = keepsWhatItHeld();
        }
        candidate.roundLost(split, ballots.elapsedNanos());
        if (wasHeld && !keeps) {
            candidate.notHeld();
        }
        undoWhatHasTo();
        if (!keeps && claim.waiting() == Waiting.NONE && !candidate.isWatched() && !split && !hasLeft()) {
            // Its owner does not come back to release it; or there is no vote that would look like a lock then.
            candidates.forget(candidate);
        }
    }

    private void undoWhatHasTo() {
        for (int master : masters.all()) {
            boolean undo;
            synchronized (this) {
                undo = hasToBeUndone(master);
            }
            if (undo) {
                undo(master);
            }
        }
    }

    private synchronized boolean hasLeft() {
        return left;
    }

    private void undo(int master) {
        LockClaim look = looks(master);
        if (look != null) {
            masters.cleanup.release(master, candidate.retire(master, look));
        }
    }

    /** Nobody waits for the answer any more. What was decided stands: its owner releases it. */
    private void leave() {
        boolean decided;
        synchronized (this) {
            left = true;
            decided = outcome != null;
        }
        if (!decided) {
            settle();
            giveWay();
        }
    }

    /**
     * What has not been answered yet is in the way of the next look, and is withdrawn. So is what is being answered at this moment, on another
     * thread that comes to undo it later: by then the next look must stand there under another id.
     */
    void giveWay() {
        for (int master : masters.all()) {
            boolean unused = stop(master);
            if (mayStillStand(master)) {
                undo(master);
            }
        }
    }

    private synchronized boolean mayStillStand(int master) {
        LockClaim look = looks[master];
        return look != null
                && !keepsWhatItHeld()
                && !(outcome instanceof Election.Next.Won)
                && !election.hasRefused(master)
                && candidate.isPresent(master, look);
    }

    /** Whether the answer of this master is still to come. */
    boolean isAwaiting(int master) {
        QuorumRequest<LockAttempt> request;
        synchronized (this) {
            request = requests[master];
        }
        return request != null && request.isAwaiting(master);
    }

    private boolean stop(int master) {
        QuorumRequest<LockAttempt> request;
        synchronized (this) {
            request = requests[master];
        }
        return request != null && request.stop(master);
    }

    /** Whether another look may win, when these masters have changed since, and those that refused are as they were otherwise. */
    synchronized boolean mayBeFree(boolean[] changed) {
        int refused = 0;
        for (int master = 0; master < changed.length; master++) {
            refused += election.hasRefused(master) && !changed[master] ? 1 : 0;
        }
        return refused < Tally.majorityOf(changed.length);
    }

    /** Whether it is not decided yet. */
    synchronized boolean isOpen() {
        return outcome == null;
    }

    private synchronized @Nullable LockClaim looks(int master) {
        return looks[master];
    }

    private LockClaim sent(int master) {
        return Objects.requireNonNull(looks[master], "an answer to a look that was not sent");
    }

    private synchronized long highestGranted() {
        return election.highestGranted();
    }

    private synchronized int granted() {
        return election.granted();
    }

    private synchronized Duration freeWithin() {
        return election.majorityFreeWithin(claim.lease().dividedBy(3));
    }

    private synchronized LockBackendException undecided(Vote vote) {
        return masters.undecided(claim.key().name(), vote, ballots);
    }

    private synchronized Vote vote(Vote.Outcome how) {
        return ballots.vote(claim.key().name(), Vote.Question.ACQUIRE, how, election.rounds());
    }

    private void tell(Vote.Outcome how) {
        if (masters.isListening()) {
            masters.tell(vote(how));
        }
    }
}
