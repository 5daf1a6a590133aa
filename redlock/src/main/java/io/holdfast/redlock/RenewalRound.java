package io.holdfast.redlock;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Renews claims, one request per master for all of them, and answers when each is decided: held by a majority, not held by a majority,
 * or unknown. When a majority holds it, the others get it back afterwards, see {@link PutBack}; what was put back counts from the next renewal
 * on, so that a lease which a majority has lost stays lost.
 */
final class RenewalRound implements ResponseHandler<List<Renewal>> {

    private final Masters masters;
    private final Candidates all;
    private final List<LockClaim> claims;
    private final List<Candidate> candidates;
    private final MonoSink<List<Renewal>> sink;
    private final QuorumRequest<List<Renewal>> request;
    private final long askedAtNanos;

    // All below: guarded by this.
    private final List<Tally> tallies = new ArrayList<>();
    private final List<List<Duration>> leases = new ArrayList<>();
    private final List<BallotBox> ballots = new ArrayList<>();
    private boolean asking = true;
    private boolean decided;

    private RenewalRound(Masters masters, Candidates all, List<LockClaim> claims, MonoSink<List<Renewal>> sink) {
        this.masters = masters;
        this.all = all;
        this.claims = claims;
        this.sink = sink;
        askedAtNanos = masters.now();
        candidates =
                claims.stream().map(claim -> all.known(claim, askedAtNanos)).toList();
        Duration shortest = claims.stream()
                .map(LockClaim::lease)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        request = new QuorumRequest<>(
                masters, masters.all(), masters.limits(shortest), Context.of(sink.contextView()), this);
        claims.forEach(claim -> {
            tallies.add(Tally.none(masters.size()));
            leases.add(new ArrayList<>());
            ballots.add(new BallotBox(masters, askedAtNanos));
        });
    }

    /** One answer per claim, in their order. */
    static Mono<List<Renewal>> ask(Masters masters, Candidates all, List<LockClaim> claims) {
        return Mono.create(sink -> new RenewalRound(masters, all, claims, sink).start());
    }

    private void start() {
        sink.onCancel(() -> masters.all().forEach(master -> {
            boolean unused = request.stop(master);
        }));
        request.ask(this::renewals);
        synchronized (this) {
            asking = false;
        }
        settle();
    }

    private Mono<List<Renewal>> renewals(int master) {
        List<LockClaim> there = new ArrayList<>(claims.size());
        for (int k = 0; k < claims.size(); k++) {
            there.add(candidates.get(k).at(master, claims.get(k)));
        }
        return there.size() == 1
                ? masters.backend(master).renew(there.get(0)).map(List::of)
                : masters.backend(master).renewAll(there).collectList();
    }

    @Override
    public void heard(int master, List<Renewal> answers) {
        if (answers.size() != claims.size()) {
            failed(
                    master,
                    new IllegalStateException("%d answers to %d renewals".formatted(answers.size(), claims.size())));
            return;
        }
        boolean late;
        synchronized (this) {
            for (int k = 0; k < answers.size(); k++) {
                count(k, master, answers.get(k));
            }
            late = decided;
        }
        if (late) {
            putBackAt(master);
        } else {
            settle();
        }
    }

    @Override
    public void failed(int master, Throwable why) {
        synchronized (this) {
            for (int k = 0; k < claims.size(); k++) {
                tallies.set(k, tallies.get(k).plusFailed());
                ballots.get(k).put(master, why);
            }
        }
        settle();
    }

    private void count(int k, int master, Renewal answer) {
        Tally tally = tallies.get(k);
        if (answer instanceof Renewal.Unknown unknown) {
            tallies.set(k, tally.plusFailed());
            ballots.get(k).put(master, unknown.failure());
            return;
        }
        ballots.get(k).put(master, answer);
        if (answer instanceof Renewal.Held held) {
            tallies.set(k, tally.plusYes());
            leases.get(k).add(PlausibleAnswers.within(claims.get(k), held.lease()));
            candidates.get(k).heldAt(master);
        } else {
            tallies.set(k, tally.plusNo());
            absent.add(new Absence(k, master));
        }
    }

    /** Lost leases whose votes at the minority have to be released: their owner does not come back. Guarded by this. */
    private final List<Integer> lost = new ArrayList<>();

    /** A claim that a master does not hold. */
    private record Absence(int claim, int master) {}

    /** Those that have not been seen to yet; guarded by this. */
    private final List<Absence> absent = new ArrayList<>();

    private void settle() {
        List<Renewal> answers;
        synchronized (this) {
            if (asking || decided || tallies.stream().anyMatch(it -> it.ofStanding() == Tally.Decision.OPEN)) {
                return;
            }
            decided = true;
            answers = new ArrayList<>();
            for (int k = 0; k < claims.size(); k++) {
                answers.add(answer(k));
            }
        }
        masters.all().forEach(this::putBackAt);
        sink.success(answers);
        // Last: it may let the next owner in, and this one would not know yet that it is none any more.
        lost.forEach(this::releaseRest);
    }

    private void releaseRest(int k) {
        Candidate candidate = candidates.get(k);
        for (int master : masters.all()) {
            boolean mayHold;
            synchronized (this) {
                mayHold = ballots.get(k).mayHold(master);
            }
            if (mayHold) {
                masters.cleanup.release(master, candidate.retire(master, candidate.at(master, claims.get(k))));
            }
        }
        all.forget(candidate);
    }

    private Renewal answer(int k) {
        LockClaim claim = claims.get(k);
        return switch (tallies.get(k).ofStanding()) {
            case YES -> {
                Duration lease = leases.get(k).stream()
                        .sorted(Comparator.reverseOrder())
                        .skip(Tally.majorityOf(masters.size()) - 1L)
                        .findFirst()
                        .orElseThrow();
                candidates.get(k).confirmed(Masters.validUntil(askedAtNanos, lease), masters.now());
                tell(k, Vote.Outcome.YES);
                yield new Renewal.Held(lease);
            }
            case NO -> {
                if (candidates.get(k).notHeld()) {
                    lost.add(k);
                }
                tell(k, Vote.Outcome.NO);
                yield new Renewal.NotHeld();
            }
            case UNKNOWN, OPEN -> {
                Vote vote = vote(k, Vote.Outcome.UNKNOWN);
                masters.tell(vote);
                yield new Renewal.Unknown(masters.undecided(claim.key().name(), vote, ballots.get(k)));
            }
        };
    }

    private void putBackAt(int master) {
        List<Absence> there = new ArrayList<>();
        synchronized (this) {
            absent.removeIf(it -> it.master() == master
                    && tallies.get(it.claim()).ofStanding() == Tally.Decision.YES
                    && there.add(it));
        }
        for (Absence it : there) {
            PutBack.start(masters, candidates.get(it.claim()), claims.get(it.claim()), master);
        }
    }

    private void tell(int k, Vote.Outcome outcome) {
        if (masters.isListening()) {
            masters.tell(vote(k, outcome));
        }
    }

    private Vote vote(int k, Vote.Outcome outcome) {
        return ballots.get(k).vote(claims.get(k).key().name(), Vote.Question.RENEW, outcome, 1);
    }
}
