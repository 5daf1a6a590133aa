package io.holdfast.redlock.internal.operation;

import io.holdfast.redlock.Vote;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.redlock.internal.master.ResponseHandler;
import io.holdfast.redlock.internal.quorum.LeaseValidity;
import io.holdfast.redlock.internal.quorum.PlausibleAnswers;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.VoteRecord;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.Mailbox;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * Renews claims, with one request per master for all of them, and answers when each is decided: held by a majority, not
 * held by a majority, or unknown. If a majority holds a claim, the round restores it at the other masters afterwards, and
 * where the last attempt was not answered: see {@link LeaseRestoration}. A restored hold counts from the next renewal on,
 * so a lease that a majority has lost stays lost.
 */
public final class RenewalRound implements ResponseHandler<List<Renewal>> {

    private final Masters masters;
    private final ClaimRegistry registry;
    private final List<LockClaim> claims;
    private final List<ClaimState> states;
    private final MonoSink<List<Renewal>> sink;
    private final QuorumRequest<List<Renewal>> request;
    private final long askedAtNanos;

    private final Mailbox mailbox = ClaimState.newMailbox();

    // All below: for events of the mailbox.
    private final List<VoteCount> counts = new ArrayList<>();
    private final List<List<Duration>> leases = new ArrayList<>();
    private final List<VoteRecord> records = new ArrayList<>();
    private boolean decided;

    /** Filled by the decision. */
    private final List<Vote> votes = new ArrayList<>();

    private RenewalRound(
            Masters masters, ClaimRegistry registry, List<LockClaim> claims, MonoSink<List<Renewal>> sink) {
        this.masters = masters;
        this.registry = registry;
        this.claims = claims;
        this.sink = sink;
        askedAtNanos = masters.now();
        states = claims.stream()
                .map(claim -> registry.known(claim, askedAtNanos))
                .toList();
        request = new QuorumRequest<>(masters, masters.all(), limit(), Context.of(sink.contextView()), this);
        claims.forEach(claim -> {
            counts.add(VoteCount.none(masters.size()));
            leases.add(new ArrayList<>());
            records.add(masters.record(askedAtNanos));
        });
    }

    /** As the longest lease allows, but within half of the default operation timeout of the shortest one. */
    private Duration limit() {
        List<Duration> byLength = claims.stream().map(LockClaim::lease).sorted().toList();
        Duration shortest = byLength.get(0);
        long most = Math.max(masters.limit(shortest).toNanos(), shortest.toNanos() / 8);
        long longest = masters.limit(byLength.get(byLength.size() - 1)).toNanos();
        return Duration.ofNanos(Math.min(longest, most));
    }

    /** Emits one answer per claim, in their order. */
    static Mono<List<Renewal>> of(Masters masters, ClaimRegistry registry, List<LockClaim> claims) {
        return Mono.create(sink -> new RenewalRound(masters, registry, claims, sink).start());
    }

    private void start() {
        sink.onCancel(() -> masters.all().forEach(master -> {
            boolean unused = request.stop(master);
        }));
        mailbox.post(() -> request.send(this::renewals));
    }

    private Mono<List<Renewal>> renewals(int master) {
        List<LockClaim> there = new ArrayList<>(claims.size());
        for (int k = 0; k < claims.size(); k++) {
            there.add(states.get(k).at(master, claims.get(k)));
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
        mailbox.post(() -> {
            for (int k = 0; k < answers.size(); k++) {
                count(k, master, answers.get(k));
            }
            if (decided) {
                restoreAt(master);
            } else {
                settle();
            }
        });
    }

    @Override
    public void failed(int master, Throwable why) {
        mailbox.post(() -> {
            for (int k = 0; k < claims.size(); k++) {
                counts.set(k, counts.get(k).plusFailed());
                records.get(k).put(master, why, masters.now());
            }
            settle();
        });
    }

    private void count(int k, int master, Renewal answer) {
        VoteCount count = counts.get(k);
        if (answer instanceof Renewal.Unknown unknown) {
            counts.set(k, count.plusFailed());
            records.get(k).put(master, unknown.failure(), masters.now());
            return;
        }
        if (answer instanceof Renewal.Held held && !PlausibleAnswers.isLongEnough(claims.get(k), held.lease())) {
            counts.set(k, count.plusFailed());
            records.get(k).put(master, PlausibleAnswers.absurd(claims.get(k), held), masters.now());
            return;
        }
        records.get(k).put(master, answer, masters.now());
        if (answer instanceof Renewal.Held held) {
            counts.set(k, count.plusYes());
            leases.get(k).add(PlausibleAnswers.within(claims.get(k), held.lease()));
            if (!states.get(k).heldAt(master)) {
                absent.add(new Absence(k, master));
            }
        } else {
            counts.set(k, count.plusNo());
            absent.add(new Absence(k, master));
        }
    }

    /** Lost leases whose votes at the minority must be released: their owner does not come back. */
    private final List<Integer> lost = new ArrayList<>();

    /** A claim that a master does not hold, or holds as it did before the last attempt, such as a downgrade. */
    private record Absence(int claim, int master) {}

    /** The absences without a restoration so far. */
    private final List<Absence> absent = new ArrayList<>();

    private void settle() {
        if (decided || counts.stream().anyMatch(it -> it.ofHolding() == VoteCount.Decision.OPEN)) {
            return;
        }
        decided = true;
        List<Renewal> answers =
                IntStream.range(0, claims.size()).mapToObj(this::answer).toList();
        masters.all().forEach(this::restoreAt);
        mailbox.after(() -> {
            votes.forEach(masters::report);
            sink.success(answers);
            // Last: this may admit the next owner, and before the signal above the former owner would not know that it
            // has lost the lock.
            mailbox.post(() -> lost.forEach(this::releaseRest));
        });
    }

    private void releaseRest(int k) {
        ClaimState state = states.get(k);
        for (int master : masters.all()) {
            if (records.get(k).mayHold(master)) {
                masters.releases().release(master, state.retire(master, state.at(master, claims.get(k))));
            }
        }
        registry.forget(state);
    }

    private Renewal answer(int k) {
        return switch (counts.get(k).ofHolding()) {
            case YES -> {
                Duration lease = leases.get(k).stream()
                        .sorted(Comparator.reverseOrder())
                        .skip(VoteCount.majorityOf(masters.size()) - 1L)
                        .findFirst()
                        .orElseThrow();
                states.get(k).confirmed(LeaseValidity.untilNanos(askedAtNanos, lease), masters.now());
                note(k, Vote.Outcome.YES);
                yield new Renewal.Held(lease);
            }
            case NO -> {
                if (states.get(k).notHeld()) {
                    lost.add(k);
                }
                note(k, Vote.Outcome.NO);
                yield new Renewal.NotHeld();
            }
            case UNKNOWN, OPEN -> {
                Vote vote = vote(k, Vote.Outcome.UNKNOWN);
                votes.add(vote);
                yield new Renewal.Unknown(records.get(k).undecided().failure(vote));
            }
        };
    }

    private void restoreAt(int master) {
        List<Absence> there = new ArrayList<>();
        absent.removeIf(it ->
                it.master() == master && counts.get(it.claim()).ofHolding() == VoteCount.Decision.YES && there.add(it));
        for (Absence it : there) {
            LeaseRestoration.start(masters, states.get(it.claim()), claims.get(it.claim()), master);
        }
    }

    private void note(int k, Vote.Outcome outcome) {
        if (masters.isListening()) {
            votes.add(vote(k, outcome));
        }
    }

    private Vote vote(int k, Vote.Outcome outcome) {
        return records.get(k).vote(claims.get(k).key().name(), Vote.Question.RENEW, outcome, 1, masters.now());
    }
}
