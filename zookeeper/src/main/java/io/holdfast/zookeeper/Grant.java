package io.holdfast.zookeeper;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Makes a claim that is first in line the holder, as long as its session is sure to last. On the strand, and alone for its claim.
 *
 * @param place of the claim, with a node that was there when the newest transaction was agreed on
 * @param session connected a moment ago
 * @param subject what for
 */
record Grant(Place place, Session session, Tree tree, Places places, Subject subject) {

    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLockBackend.class);

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
        if (isFollowed && place.isPermit() && !place.isMarked()) {
            mark();
        }
        return Mono.just(new LockAttempt.Acquired(place.zxid(), session.proof().lease()));
    }

    /** Tells the next waiter that it is at the head now: nothing was deleted that it could have seen. */
    private void mark() {
        Disposable unused = tree.mark(session, place.knownPath()).subscribe(marked -> {
            if (marked.isOk()) {
                place.marked();
            } else {
                LOG.debug("{} could not be marked, the next waiter will find out by looking: {}", place, marked);
            }
        });
    }
}
