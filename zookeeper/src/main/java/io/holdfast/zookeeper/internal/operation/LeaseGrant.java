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
 * Makes a claim that is first in line the holder, as long as its session is sure to last. What proves that may be older than the attempt, so
 * the lease is counted from when the attempt was asked for, and ends when the session may. On the executor, and alone for its claim.
 *
 * @param state of the claim, with a node
 * @param session connected a moment ago
 * @param subject what for
 * @param nowNanos the time
 */
record LeaseGrant(ClaimState state, Session session, ClaimRegistry claims, Subject subject, long nowNanos) {

    /** Whether the session is sure enough to last, without another transaction. */
    boolean isProved() {
        SessionValidity validity = session.validity();
        if (state.isHeld()) {
            return validity.isLease();
        }
        return validity.suffices(nowNanos) || (validity.agreedSince(state.askedNanos()) && validity.suffices());
    }

    /** Fails when the session is not sure enough; the place is kept, and the next attempt may find more. */
    Mono<LockAttempt> answer(boolean isFollowed) {
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
        if (isFollowed && state.isPermit()) {
            state.oweMark();
            claims.mark(state, session);
        }
        return Mono.just(
                new LockAttempt.Acquired(state.zxid(), session.validity().validFrom(state.askedNanos())));
    }
}
