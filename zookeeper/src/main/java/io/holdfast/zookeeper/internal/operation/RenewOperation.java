package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.connection.SessionTracker;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Mono;

/** Renews the leases of many claims with one transaction that checks their nodes. On the executor. */
record RenewOperation(ClaimRegistry claims, SessionTracker sessions, AsyncZooKeeper zooKeeper, ClaimSignals signals) {

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    /** Emits an answer for each claim, in their order. */
    Mono<List<Renewal>> renew(List<LockClaim> batch) {
        Map<String, ClaimState> held = new LinkedHashMap<>();
        for (LockClaim claim : batch) {
            ClaimState state = claims.find(claim.id());
            if (state != null && state.isHeld() && !state.isWithdrawn()) {
                held.put(state.knownPath(), state);
            }
        }
        if (held.isEmpty()) {
            return Mono.just(batch.stream().map(this::notHeld).toList());
        }
        Subject subject = batch.size() == 1
                ? Subject.of("renew", batch.get(0).key().name())
                : new Subject("", "renew %d locks".formatted(batch.size()));
        return sessions.current(subject)
                .flatMap(session -> new NodeCheck(session, zooKeeper, subject)
                        .areThere(List.copyOf(held.keySet()))
                        .flatMap(answers -> renewals(batch, session, held, answers, subject)));
    }

    private Mono<List<Renewal>> renewals(
            List<LockClaim> batch,
            Session session,
            Map<String, ClaimState> checked,
            List<Boolean> answers,
            Subject subject) {
        Set<String> there = new HashSet<>();
        Iterator<Boolean> isThere = answers.iterator();
        for (Map.Entry<String, ClaimState> entry : checked.entrySet()) {
            ClaimState state = entry.getValue();
            boolean isStillIts = state.isIn(session) && state.knownPath().equals(entry.getKey());
            if (isThere.next() && isStillIts) {
                there.add(state.id());
            } else if (isStillIts) {
                claims.gone(state);
            }
        }
        if (!there.isEmpty() && !session.validity().isLease()) {
            return Mono.error(ZooKeeperFailures.notProven(subject, session));
        }
        Renewal held = new Renewal.Held(session.validity().lease());
        return Mono.just(batch.stream()
                .map(claim -> there.contains(claim.id()) ? held : notHeld(claim))
                .toList());
    }

    /**
     * A claim that ended with its session is not held. Its watcher was already notified of the loss, with the session as the reason. "Not
     * held" would replace that reason, so the answer is "unknown".
     */
    private Renewal notHeld(LockClaim claim) {
        ClaimState state = claims.find(claim.id());
        boolean endedWithItsSession = state != null && state.isOrphaned();
        return endedWithItsSession && signals.isWatched(claim.id())
                ? new Renewal.Unknown(ZooKeeperFailures.noSession(
                        Subject.of("renew", claim.key().name())))
                : NOT_HELD;
    }
}
