package io.holdfast.zookeeper;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import reactor.core.publisher.Mono;

/**
 * Makes a claim that is first in line the holder, as long as its session is sure to last. On the strand, and alone for its claim.
 *
 * @param place of the claim, with a node that was there when the newest transaction was agreed on
 * @param session connected a moment ago
 * @param subject what for
 */
record Grant(Place place, Session session, Places places, Subject subject) {

    /** Whether the session is sure enough to last. */
    boolean isProved() {
        return place.isHeld() ? session.proof().isLease() : session.proof().suffices();
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
        place.hold();
        if (isNew) {
            places.guard(place, session);
        }
        if (isFollowed && place.isPermit()) {
            place.oweMark();
            places.mark(place, session);
        }
        return Mono.just(new LockAttempt.Acquired(place.zxid(), session.proof().lease()));
    }
}
