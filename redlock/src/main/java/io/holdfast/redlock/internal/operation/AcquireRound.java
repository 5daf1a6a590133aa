package io.holdfast.redlock.internal.operation;

import static java.util.Objects.requireNonNull;

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
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * One attempt: sends it to all masters, follows the {@link AcquireDecision}, and answers when that is decided. It still
 * receives later answers, and undoes them if necessary. All runs in the mailbox of the claim.
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
    private final AcquireDecision decision;

    /** By master; null if none was sent there. */
    private final @Nullable LockClaim[] lastAttempts;

    /** The first request goes to all masters. A second one goes to those that granted a lower token. */
    private final List<QuorumRequest<LockAttempt>> requests = new ArrayList<>(1);

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
        lastAttempts = new LockClaim[masters.size()];
    }

    void start() {
        ClaimRound before = state.begin(this, askedAtNanos);
        if (before != null) {
            before.giveWay();
        }
        Waiting waiting = claim.waiting() == Waiting.NONE ? Waiting.NONE : Waiting.NOTIFY;
        send(masters.all(), waiting, proposal);
    }

    private void send(List<Integer> some, Waiting waiting, long floor) {
        QuorumRequest<LockAttempt> request = new QuorumRequest<>(masters, some, limit, context, this);
        requests.add(request);
        request.send(master -> attempt(master, waiting, floor));
    }

    private Mono<LockAttempt> attempt(int master, Waiting waiting, long floor) {
        LockClaim attempt = state.nextAttempt(this, master, claim, waiting, floor);
        if (attempt == null) {
            return Mono.error(new IllegalStateException("no attempt sent: the round is over"));
        }
        lastAttempts[master] = attempt;
        return masters.backend(master).tryAcquire(attempt);
    }

    @Override
    public void heard(int master, LockAttempt said) {
        state.mailbox().post(() -> answered(master, said));
    }

    private void answered(int master, LockAttempt said) {
        LockAttempt answer = PlausibleAnswers.to(claim, said);
        if (answer == null) {
            notAnswered(master, PlausibleAnswers.absurd(claim, said));
            return;
        }
        state.answered(master, lastAttempt(master));
        if (answer instanceof LockAttempt.Acquired acquired) {
            state.grantedAt(master, acquired.fencingToken());
        }
        decision.heard(master, answer, masters.now());
        if (decision.hasToBeUndone(master) || answer instanceof LockAttempt.Queued) {
            undo(master); // the attempt did not request a place in a queue
        }
        settle();
    }

    @Override
    public void failed(int master, Throwable why) {
        state.mailbox().post(() -> notAnswered(master, why));
    }

    private void notAnswered(int master, Throwable why) {
        if (VoteRecord.abstention(why).isPresent()) {
            state.answered(master, lastAttempt(master));
        }
        decision.failed(master, why, masters.now());
        if (decision.hasToBeUndone(master)) {
            undo(master);
        }
        settle();
    }

    private LockClaim lastAttempt(int master) {
        return requireNonNull(lastAttempts[master], "an answer to an attempt that was not sent");
    }

    private void settle() {
        AcquireQuorum.Next next = decision.next(state.isClosed());
        if (next instanceof AcquireQuorum.Next.Won won
                && !state.held(won.token(), LeaseValidity.untilNanos(askedAtNanos, won.lease()))) {
            next = new AcquireQuorum.Next.GivenUp(); // released meanwhile
        }
        decision.decided(next);
        if (next instanceof AcquireQuorum.Next.Raise raise) {
            send(raise.masters(), Waiting.NONE, raise.token());
        } else if (next instanceof AcquireQuorum.Next.Won won) {
            masters.tokens().granted(decision.highestGranted(), proposal);
            answer(Vote.Outcome.YES, new LockAttempt.Acquired(won.token(), won.lease()));
        } else if (next instanceof AcquireQuorum.Next.Lost || next instanceof AcquireQuorum.Next.GivenUp) {
            lost();
        } else if (next instanceof AcquireQuorum.Next.Failed) {
            ended(false);
            Vote vote = vote(Vote.Outcome.UNKNOWN);
            Throwable failure = decision.undecided().failure(vote);
            state.mailbox().after(() -> {
                masters.report(vote);
                sink.error(failure);
            });
        }
    }

    private void lost() {
        boolean isSplit = decision.isSplit();
        ended(isSplit);
        Duration pause = isSplit
                ? JitteredBackoff.inContention(state.contentionLevel(), state.roundNanos(), masters.random())
                : JitteredBackoff.whileHeld(
                        claim.attempt(), decision.freeWithin(claim.lease().dividedBy(3)), masters.random());
        answer(Vote.Outcome.NO, new LockAttempt.Contended(pause));
    }

    private void answer(Vote.Outcome how, LockAttempt answer) {
        Vote vote = masters.isListening() ? vote(how) : null;
        state.mailbox().after(() -> {
            masters.report(vote);
            sink.success(answer);
        });
    }

    private void ended(boolean isSplit) {
        boolean isKept = decision.keepsWhatItHeld();
        state.roundLost(isSplit, masters.now() - askedAtNanos);
        if (wasHeld && !isKept) {
            state.notHeld();
        }
        for (int master : masters.all()) {
            if (decision.hasToBeUndone(master)) {
                undo(master);
            }
        }
        boolean mayLookHeld = isSplit && decision.mayBeFree(new boolean[masters.size()]);
        if (!isKept
                && claim.waiting() == Waiting.NONE
                && !state.isWatched()
                && !mayLookHeld
                && !decision.isAbandoned()) {
            // The owner does not come back to release the claim. If it does, no votes look like a lock then.
            registry.forget(state);
        }
    }

    private void undo(int master) {
        LockClaim attempt = lastAttempts[master];
        if (attempt != null) {
            masters.releases().release(master, state.retire(master, attempt));
        }
    }

    /** The subscriber does not wait for the answer any more. A decision stays: the owner of the claim releases it. */
    void leave() {
        if (isOpen()) {
            decision.abandon();
            settle();
            giveWay();
        }
    }

    /**
     * Withdraws the unanswered attempts, which are in the way of the next round. It also withdraws an attempt whose
     * answer is not handled yet. That answer undoes the attempt later; by then the next attempt must have another id
     * there.
     */
    @Override
    public void giveWay() {
        for (int master : masters.all()) {
            for (QuorumRequest<LockAttempt> request : requests) {
                boolean unused = request.stop(master);
            }
            LockClaim attempt = lastAttempts[master];
            if (attempt != null && decision.mayStillHold(master) && state.isPresent(master, attempt)) {
                undo(master);
            }
        }
    }

    @Override
    public boolean isAwaiting(int master) {
        return requests.stream().anyMatch(request -> request.isAwaiting(master));
    }

    @Override
    public boolean mayBeFree(boolean[] changed) {
        return decision.mayBeFree(changed);
    }

    @Override
    public boolean isOpen() {
        return !decision.isDecided();
    }

    private Vote vote(Vote.Outcome how) {
        return decision.vote(claim.key().name(), how, masters.now());
    }
}
