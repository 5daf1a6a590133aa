package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.Vote;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimRound;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.redlock.internal.master.ResponseHandler;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Ends a claim at all masters, and answers when a majority has said that it was held, or that it was not. If neither
 * majority is possible, the outcome is unknown. A second release would not find it out: the masters that ended the
 * claim say that it is not held, and that is a majority. Masters that fail get another request in the background. A
 * claim that has not won, as this client knows, is not held, whatever single votes it had.
 */
public final class ReleaseRound implements ResponseHandler<Ownership> {

    private final Masters masters;
    private final ClaimRegistry registry;
    private final ClaimState state;
    private final LockClaim claim;
    private final MonoSink<Ownership> sink;
    private final List<LockClaim> there = new ArrayList<>();

    private final ClaimState.Closed closed;
    private final VoteRecord record;
    private VoteCount votes;
    private boolean decided;

    private ReleaseRound(Masters masters, ClaimRegistry registry, LockClaim claim, MonoSink<Ownership> sink) {
        this.masters = masters;
        this.registry = registry;
        this.claim = claim;
        this.sink = sink;
        long now = masters.now();
        state = registry.known(claim, now);
        closed = state.close();
        record = masters.record(now);
        votes = VoteCount.none(masters.size());
    }

    static Mono<Ownership> of(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return Mono.create(sink -> {
            ReleaseRound round = new ReleaseRound(masters, registry, claim, sink);
            round.state.mailbox().post(round::start);
        });
    }

    private void start() {
        ClaimRound underWay = closed.round();
        for (int master : masters.all()) {
            boolean isAwaited = underWay != null && underWay.isAwaiting(master);
            there.add(state.toRelease(master, claim, isAwaited));
        }
        QuorumRequest<Ownership> request = new QuorumRequest<>(
                masters, masters.all(), masters.limit(claim.lease()), Context.of(sink.contextView()), this);
        // A cancellation does not stop it: the release must end, whether or not a caller waits for it.
        request.send(master -> masters.backend(master).release(there.get(master)));
    }

    @Override
    public void heard(int master, Ownership answer) {
        state.mailbox().post(() -> {
            record.put(master, answer, masters.now());
            // The votes of a round that was not won are given up, but they were not a lock.
            votes = answer == Ownership.HELD && !closed.isNeverWon() ? votes.plusYes() : votes.plusNo();
            settle();
        });
    }

    @Override
    public void failed(int master, Throwable why) {
        state.mailbox().post(() -> {
            record.put(master, why, masters.now());
            votes = votes.plusFailed();
            if (!state.hasNoAttemptAt(master)) {
                masters.releases().releaseAgain(master, there.get(master));
            }
            settle();
        });
    }

    private void settle() {
        VoteCount.Decision decision = votes.ofHolding();
        if (decided || decision == VoteCount.Decision.OPEN) {
            return;
        }
        decided = true;
        if (decision == VoteCount.Decision.UNKNOWN) {
            Vote vote = vote(Vote.Outcome.UNKNOWN);
            Throwable failure = record.undecided().failure(vote);
            state.mailbox().after(() -> {
                masters.report(vote);
                sink.error(failure);
            });
            return;
        }
        registry.forget(state);
        boolean held = decision == VoteCount.Decision.YES;
        Vote vote = masters.isListening() ? vote(held ? Vote.Outcome.YES : Vote.Outcome.NO) : null;
        state.mailbox().after(() -> {
            masters.report(vote);
            sink.success(held ? Ownership.HELD : Ownership.NOT_HELD);
        });
    }

    private Vote vote(Vote.Outcome outcome) {
        return record.vote(claim.key().name(), Vote.Question.RELEASE, outcome, 1, masters.now());
    }
}
