package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import reactor.core.publisher.Mono;

/**
 * Makes the first claim in line the holder, if its session is proved. The proof may be older than the attempt. So the lease is counted from
 * the start of the attempt, and ends when the session may end. On the executor, with no other operation of the claim at the same time.
 *
 * @param state the state of the claim, which has a node
 * @param session connected a moment ago
 * @param subject for messages
 * @param nowNanos the time
 */
record LeaseGrant(ClaimState state, Session session, ClaimRegistry claims, Subject subject, long nowNanos) {

    /** Whether the session is proved for long enough, without another transaction. */
    boolean isProved() {
        SessionValidity validity = session.validity();
        if (state.isHeld()) {
            return validity.isLease();
        }
        return validity.suffices(nowNanos) || (validity.agreedSince(state.askedNanos()) && validity.suffices());
    }

    /** Fails if the session is not proved for long enough. The claim keeps its place, and the next attempt may succeed. */
    Mono<LockAttempt> answer() {
        if (!state.isIn(session) || !session.isAlive()) {
            return Mono.error(ZooKeeperFailures.noSession(subject));
        }
        if (!isProved()) {
            return Mono.error(ZooKeeperFailures.notProven(subject, session));
        }
        boolean isNew = !state.isHeld();
        claims.expectNothing(state);
        if (isNew) {
            claims.hold(state, session);
        }
        return Mono.just(
                new LockAttempt.Acquired(state.zxid(), session.validity().validFrom(state.askedNanos())));
    }
}
