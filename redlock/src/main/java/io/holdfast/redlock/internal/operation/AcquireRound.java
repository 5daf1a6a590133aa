package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.Vote;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimRound;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.redlock.internal.master.ResponseHandler;
import io.holdfast.redlock.internal.quorum.AcquireDecision;
import io.holdfast.redlock.internal.quorum.AcquireQuorum;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.redlock.internal.quorum.LeaseValidity;
import io.holdfast.redlock.internal.quorum.PlausibleAnswers;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * One attempt: sends it to all masters, follows the {@link AcquireDecision}, and answers when that is decided. It still
 * receives later answers, and undoes them if necessary. It decides within its monitor and acts outside of it.
 */
final class AcquireRound implements ResponseHandler<LockAttempt>, ClaimRound {

    private final Masters masters;
    private final ClaimRegistry registry;
    private final ClaimState state;
    private final LockClaim claim;
    private final MonoSink<LockAttempt> sink;
    private final Context context;
    private final long askedAtNanos;
    private final long proposal;
    private final Duration limit;
    private final boolean wasHeld;

    private final SentAttempts sent;

    /** Guarded by this. */
    private final AcquireDecision decision;

    AcquireRound(
            Masters masters, ClaimRegistry registry, ClaimState state, LockClaim claim, MonoSink<LockAttempt> sink) {
        this.masters = masters;
        this.registry = registry;
        this.state = state;
        this.claim = claim;
        this.sink = sink;
        context = Context.of(sink.contextView());
        askedAtNanos = masters.now();
        limit = masters.limit(claim.lease());
        long present = state.token();
        wasHeld = present != 0;
        // A claim that holds the lock keeps its token, unless its owner wants a higher one.
        proposal = wasHeld
                ? Math.max(present, claim.tokenFloor())
                : masters.tokens().proposed(claim.tokenFloor());
        AcquireQuorum quorum = wasHeld
                ? AcquireQuorum.ofHolder(proposal, state.tokens())
                : AcquireQuorum.of(masters.size(), masters.tokens().nowMicros());
        decision = new AcquireDecision(quorum, masters.record(askedAtNanos), wasHeld);
        sent = new SentAttempts(masters.size());
    }

    void start() {
        ClaimRound before = state.begin(this, askedAtNanos);
        if (before != null) {
            before.giveWay();
        }
        sink.onCancel(this::leave);
        if (before == null && hasLeft()) {
            registry.forget(state);
            return;
        }
        Waiting waiting = claim.waiting() == Waiting.NONE ? Waiting.NONE : Waiting.NOTIFY;
        send(masters.all(), waiting, proposal);
    }

    private void send(List<Integer> some, Waiting waiting, long floor) {
        QuorumRequest<LockAttempt> request = new QuorumRequest<>(masters, some, limit, context, this);
        sent.add(request);
        request.send(master -> attempt(master, waiting, floor));
        synchronized (this) {
            decision.allSent();
        }
        settle();
    }

    private Mono<LockAttempt> attempt(int master, Waiting waiting, long floor) {
        LockClaim attempt;
        synchronized (this) {
            attempt = decision.isAbandoned() ? null : state.nextAttempt(this, master, claim, waiting, floor);
            if (attempt != null) {
                sent.put(master, attempt);
            }
        }
        return attempt == null
                ? Mono.error(new IllegalStateException("no attempt sent: the round is over"))
                : masters.backend(master).tryAcquire(attempt);
    }

    @Override
    public void heard(int master, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(claim, said);
        if (answer == null) {
            failed(master, PlausibleAnswers.absurd(claim, said));
            return;
        }
        boolean isToBeUndone;
        synchronized (this) {
            state.answered(master, sent.answered(master));
            decision.heard(master, answer, masters.now());
            isToBeUndone = decision.hasToBeUndone(master);
        }
        if (answer instanceof LockAttempt.Acquired acquired) {
            state.grantedAt(master, acquired.fencingToken());
        }
        if (isToBeUndone || answer instanceof LockAttempt.Queued) {
            undo(master); // the attempt did not request a place in a queue
        }
        settle();
    }

    @Override
    public void failed(int master, Throwable why) {
        boolean isToBeUndone;
        synchronized (this) {
            if (VoteRecord.abstention(why).isPresent()) {
                state.answered(master, sent.answered(master));
            }
            decision.failed(master, why, masters.now());
            isToBeUndone = decision.hasToBeUndone(master);
        }
        if (isToBeUndone) {
            undo(master);
        }
        settle();
    }

    private void settle() {
        AcquireQuorum.Next next;
        synchronized (this) {
            next = decision.next(state.isClosed());
            if (next instanceof AcquireQuorum.Next.Won won
                    && !state.held(won.token(), LeaseValidity.untilNanos(askedAtNanos, won.lease()))) {
                next = new AcquireQuorum.Next.GivenUp(); // released meanwhile
            }
            decision.decided(next);
        }
        act(next);
    }

    private void act(AcquireQuorum.Next next) {
        if (next instanceof AcquireQuorum.Next.Raise raise) {
            send(raise.masters(), Waiting.NONE, raise.token());
        } else if (next instanceof AcquireQuorum.Next.Won won) {
            masters.tokens().granted(highestGranted(), proposal);
            report(Vote.Outcome.YES);
            sink.success(new LockAttempt.Acquired(won.token(), won.lease()));
        } else if (next instanceof AcquireQuorum.Next.Lost || next instanceof AcquireQuorum.Next.GivenUp) {
            lost();
        } else if (next instanceof AcquireQuorum.Next.Failed) {
            failed();
        }
    }

    private void lost() {
        boolean isSplit;
        Duration freeWithin;
        synchronized (this) {
            isSplit = decision.isSplit();
            freeWithin = decision.freeWithin(claim.lease().dividedBy(3));
        }
        ended(isSplit);
        report(Vote.Outcome.NO);
        Duration pause = isSplit
                ? JitteredBackoff.inContention(state.contentionLevel(), state.roundNanos(), masters.random())
                : JitteredBackoff.whileHeld(claim.attempt(), freeWithin, masters.random());
        sink.success(new LockAttempt.Contended(pause));
    }

    private void failed() {
        ended(false);
        Vote vote = vote(Vote.Outcome.UNKNOWN);
        masters.report(vote);
        Throwable failure;
        synchronized (this) {
            failure = decision.undecided().failure(vote);
        }
        sink.error(failure); // this may run users' code, which may take long
    }

    private void ended(boolean isSplit) {
        boolean isKept;
        synchronized (this) {
            isKept = decision.keepsWhatItHeld();
        }
        state.roundLost(isSplit, masters.now() - askedAtNanos);
        if (wasHeld && !isKept) {
            state.notHeld();
        }
        undoWhatHasTo();
        if (!isKept && claim.waiting() == Waiting.NONE && !state.isWatched() && !isSplit && !hasLeft()) {
            // The owner does not come back to release the claim. If it does, no vote looks like a lock then.
            registry.forget(state);
        }
    }

    private void undoWhatHasTo() {
        for (int master : masters.all()) {
            boolean isToBeUndone;
            synchronized (this) {
                isToBeUndone = decision.hasToBeUndone(master);
            }
            if (isToBeUndone) {
                undo(master);
            }
        }
    }

    private void undo(int master) {
        LockClaim attempt = sent.at(master);
        if (attempt != null) {
            masters.releases().release(master, state.retire(master, attempt));
        }
    }

    /** The subscriber does not wait for the answer any more. A decision stays: the owner of the claim releases it. */
    private void leave() {
        boolean wasDecided;
        synchronized (this) {
            wasDecided = decision.abandon();
        }
        if (!wasDecided) {
            settle();
            giveWay();
        }
    }

    private synchronized boolean hasLeft() {
        return decision.isAbandoned();
    }

    /**
     * Withdraws the unanswered attempts, which are in the way of the next round. It also withdraws an attempt that is
     * being answered at this moment. The thread of that answer undoes the attempt later; by then the next attempt must
     * have another id there.
     */
    @Override
    public void giveWay() {
        for (int master : masters.all()) {
            sent.stop(master);
            if (mayStillHold(master)) {
                undo(master);
            }
        }
    }

    private synchronized boolean mayStillHold(int master) {
        LockClaim attempt = sent.at(master);
        return attempt != null && decision.mayStillHold(master) && state.isPresent(master, attempt);
    }

    @Override
    public boolean isAwaiting(int master) {
        return sent.isAwaiting(master);
    }

    @Override
    public synchronized boolean mayBeFree(boolean[] changed) {
        return decision.mayBeFree(changed);
    }

    @Override
    public synchronized boolean isOpen() {
        return !decision.isDecided();
    }

    private synchronized long highestGranted() {
        return decision.highestGranted();
    }

    private synchronized Vote vote(Vote.Outcome how) {
        return decision.vote(claim.key().name(), how, masters.now());
    }

    private void report(Vote.Outcome how) {
        if (masters.isListening()) {
            masters.report(vote(how));
        }
    }
}
