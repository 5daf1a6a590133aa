package io.holdfast.zookeeper;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import reactor.core.publisher.Mono;

/**
 * Makes a claim that is first in line the holder, as long as its session is sure to last. What proves that may be older than the attempt, so
 * the lease is counted from when the attempt was asked for, and ends when the session may. On the strand, and alone for its claim.
 *
 * @param place of the claim, with a node
 * @param session connected a moment ago
 * @param subject what for
 * @param nowNanos the time
 */
record Grant(Place place, Session session, Places places, Subject subject, long nowNanos) {

    /** Whether the session is sure enough to last, without another transaction. */
    boolean isProved() {
        SessionProof proof = session.proof();
        if (place.isHeld()) {
            return proof.isLease();
        }
        return proof.suffices(nowNanos) || (proof.agreedSince(place.askedNanos()) && proof.suffices());
    }

    /** Fails when the session is not sure enough; the place is kept, and the next look may find more. */
    Mono<LockAttempt> answer(boolean isFollowed) {
        if (!place.isIn(session) || !session.isAlive()) {
            return Mono.error(ZooKeeperFailures.noSession(subject));
        }
        if (!isProved()) {
            return Mono.error(ZooKeeperFailures.notProven(subject, session));
        }
        boolean isNew = !place.isHeld();
        places.expectNothing(place);
        if (isNew) {
            places.hold(place, session);
        }
        if (isFollowed && place.isPermit()) {
            place.oweMark();
            places.mark(place, session);
        }
        return Mono.just(new LockAttempt.Acquired(place.zxid(), session.proof().validFrom(place.askedNanos())));
    }
}
