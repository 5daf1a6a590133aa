package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import reactor.core.publisher.Mono;

/**
 * One look of one claim: takes a place in the queue if it has none, finds out where that stands, and watches what it waits for. On the
 * strand, and alone for its claim.
 *
 * @param claim the look
 * @param place what the claim has so far
 * @param session connected a moment ago
 * @param gates of the queues
 */
record Look(LockClaim claim, Place place, Session session, Tree tree, Places places, Gates gates, Strand strand) {

    Mono<LockAttempt> answer() {
        place.findQueue(session);
        if (place.isIn(session)) {
            return place.isHeld() ? check(() -> hold(false)) : fromItsPlace();
        }
        if (place.belongsTo(session)) {
            return entrance().recover();
        }
        return queues() ? enter() : unlessSomebodyIsThere();
    }

    /** It may have waited, without a node, for one that went away. */
    private Mono<LockAttempt> enter() {
        places.expectNothing(place);
        return entrance().enter();
    }

    private Entrance entrance() {
        return new Entrance(this);
    }

    boolean queues() {
        return claim.waiting() == Waiting.QUEUE;
    }

    /** Nothing is written while somebody is in the way. */
    private Mono<LockAttempt> unlessSomebodyIsThere() {
        String queue = place.queue().path();
        return whenFree(
                place.isPermit() ? tree.list(session, queue) : places.queues().list(queue, session), this::refused);
    }

    private Mono<LockAttempt> whenFree(
            Mono<Reply<List<String>>> list, Function<QueueNode, Mono<LockAttempt>> otherwise) {
        return list.flatMap(listed -> {
            if (!listed.isOk()) {
                return listed.isNoNode() ? enter() : fail(listed);
            }
            return tree.read(
                            listed.get(),
                            () -> Optional.ofNullable(Standing.blockerOfNewcomer(
                                    listed.get(),
                                    claim.key().kind(),
                                    claim.key().permits())))
                    .flatMap(blocker -> blocker.map(otherwise).orElseGet(this::enter));
        });
    }

    private Mono<LockAttempt> refused(QueueNode blocker) {
        if (claim.waiting() == Waiting.NONE) {
            return contended();
        }
        return place.isPermit() ? refusedPermit() : refusedBehind(place.queue().of(blocker.name()));
    }

    private Mono<LockAttempt> refusedBehind(String path) {
        places.expect(path, place);
        return tree.watch(session, path).flatMap(watched -> {
            if (watched.isNoNode()) {
                places.expectNothing(place);
                return unlessSomebodyIsThere();
            }
            return watched.isOk() ? contended() : fail(watched);
        });
    }

    /** Any of the nodes may make room. */
    private Mono<LockAttempt> refusedPermit() {
        String queue = place.queue().path();
        places.expect(queue, place);
        return whenFree(tree.listAndWatch(session, queue), blocker -> contended());
    }

    Mono<LockAttempt> fromItsPlace() {
        if (place.node().isPastTheEnd()) {
            return entrance().beginAnew();
        }
        if (!place.isPermit()) {
            return queue().has(place.node()) ? inItsPlace() : leaveAndBeginAnew();
        }
        String watched = place.waitsFor();
        return watched != null && queues() ? unlessItStillWaits(watched) : inFull();
    }

    private Mono<LockAttempt> inItsPlace() {
        return place.isDoubtful() ? listAgain() : inLine();
    }

    /** An earlier look gave the place up, and the deletion failed. Claims of the session behind it may have passed it since. */
    private Mono<LockAttempt> leaveAndBeginAnew() {
        return leave().flatMap(left -> answer());
    }

    /** Nothing was told of what it waits for, so this only reads; what it finds, it does not act on without a transaction. */
    private Mono<LockAttempt> unlessItStillWaits(String watched) {
        if (watched.equals(place.queue().path())) {
            return waitAtTheHead(listed -> inFull());
        }
        return place.isPermit() && place.isListDue()
                ? tree.list(session, place.queue().path()).flatMap(listed -> unlessItIsStillBehind(watched, listed))
                : waitBehind(watched, this::inFull);
    }

    private Mono<LockAttempt> unlessItIsStillBehind(String watched, Reply<List<String>> listed) {
        if (!listed.isOk()) {
            return inFull();
        }
        return standing(listed)
                .flatMap(standing -> standing instanceof Standing.Behind behind
                                && watched.equals(place.queue().of(behind.name()))
                        ? queued()
                        : inFull());
    }

    /** The list comes after the check in the same session, so it is not older; and the check counts for the validity, if it is first. */
    private Mono<LockAttempt> inFull() {
        String queue = place.queue().path();
        if (session.proof().suffices(strand.now())) {
            return listAgain();
        }
        return Mono.zip(tree.check(session, List.of(place.knownPath())), tree.list(session, queue))
                .flatMap(both -> checked(both.getT1(), () -> judged(both.getT2())));
    }

    private Mono<LockAttempt> check(Supplier<Mono<LockAttempt>> whenThere) {
        return tree.check(session, List.of(place.knownPath())).flatMap(it -> checked(it, whenThere));
    }

    private Mono<LockAttempt> checked(Reply<List<Code>> checked, Supplier<Mono<LockAttempt>> whenThere) {
        if (!checked.isOk()) {
            return fail(checked);
        }
        Code code = checked.get().get(0);
        if (code == Code.NONODE) {
            places.gone(place);
            return Mono.error(ZooKeeperFailures.vanished(subject()));
        }
        return code == Code.OK ? whenThere.get() : fail(Reply.of(code.intValue(), checked.path(), null));
    }

    Mono<LockAttempt> judged(Reply<List<String>> listed) {
        if (listed.isTooLong() && place.isIn(session) && !place.hasStood()) {
            return entrance().giveUp();
        }
        if (!listed.isOk()) {
            return fail(listed);
        }
        if (!place.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while the answer was on its way
        }
        if (place.isDoubtful() && ownNodes().among(listed.get()).size() > 1) {
            places.expectNothing(place);
            if (!place.isPermit()) {
                queue().isDoubtful(place.node());
                places.guardNoLonger(place);
            }
            place.entering(session);
            return entrance().recover(); // it would wait for itself
        }
        return place.isPermit() ? standing(listed).flatMap(this::decided) : inLine();
    }

    /** By what the session knows of the queue. */
    Mono<LockAttempt> inLine() {
        if (!place.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while an answer was on its way
        }
        LockQueue<Place> queue = queue();
        return switch (queue.position(place.node())) {
            case FIRST -> hold(false);
            case UNKNOWN -> listAgain();
            case BEHIND -> queues() ? waitInLine(queue) : leave().flatMap(left -> contended());
        };
    }

    /** The first that waits watches the node in front of it, and reads that again when the clock asks for an attempt. */
    private Mono<LockAttempt> waitInLine(LockQueue<Place> queue) {
        place.stands();
        QueueNode blocker = queue.blockerToWatch(place.node());
        if (blocker == null) {
            return queued();
        }
        return places.queues().watch(place.queue().path(), blocker, session).flatMap(watched -> {
            if (watched.isNoNode()) {
                places.queues().gone(watched.path());
                return inLine();
            }
            return watched.isOk() ? queued() : fail(watched);
        });
    }

    LockQueue<Place> queue() {
        return places.queues().at(place.queue().path());
    }

    private Mono<LockAttempt> decided(Standing standing) {
        if (!place.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while the list was read
        }
        if (standing instanceof Standing.Holder holder) {
            return hold(holder.isFollowed());
        }
        if (standing instanceof Standing.Missing) {
            places.gone(place);
            return Mono.error(ZooKeeperFailures.vanished(subject()));
        }
        if (!queues()) {
            return leave().flatMap(left -> contended());
        }
        return standing instanceof Standing.Behind behind
                ? waitBehind(place.queue().of(behind.name()), this::listAgain)
                : waitAtTheHead(this::judged);
    }

    /** Gives its place back, whatever it is. */
    Mono<Ownership> leave() {
        return new Withdrawal(place, session, tree, places).answer();
    }

    OwnNodes ownNodes() {
        return new OwnNodes(place, session, tree, subject());
    }

    private Mono<Standing> standing(Reply<List<String>> listed) {
        QueueNode own = place.node();
        return tree.read(listed.get(), () -> Standing.of(listed.get(), own));
    }

    private Mono<LockAttempt> listAgain() {
        if (place.isPermit()) {
            return tree.list(session, place.queue().path()).flatMap(this::judged);
        }
        return places.queues().list(place.queue().path(), session).flatMap(this::judged);
    }

    private Mono<LockAttempt> waitBehind(String path, Supplier<Mono<LockAttempt>> whenItIsGone) {
        places.expect(path, place);
        return tree.watch(session, path).flatMap(watched -> {
            boolean holdsMeanwhile = place.isPermit() && watched.isOk() && Arrays.equals(Tree.HOLDS, watched.get());
            if (watched.isNoNode() || holdsMeanwhile) {
                places.expectNothing(place);
                return whenItIsGone.get();
            }
            return watched.isOk() ? queued() : fail(watched);
        });
    }

    private Mono<LockAttempt> waitAtTheHead(Function<Reply<List<String>>, Mono<LockAttempt>> whenItIsNot) {
        String queue = place.queue().path();
        places.expect(queue, place);
        return tree.listAndWatch(session, queue)
                .flatMap(listed -> !listed.isOk() || !place.isIn(session)
                        ? whenItIsNot.apply(listed)
                        : standing(listed)
                                .flatMap(standing ->
                                        standing instanceof Standing.AtTheHead ? queued() : whenItIsNot.apply(listed)));
    }

    /** A session of which little is known yet, or little has been heard for a while, may need a second transaction, after the first. */
    private Mono<LockAttempt> hold(boolean isFollowed) {
        boolean unused = place.tell();
        Grant grant = grant();
        return grant.isProved() ? grant.answer(isFollowed) : check(() -> grant().answer(isFollowed));
    }

    private Grant grant() {
        return new Grant(place, session, places, subject(), strand.now());
    }

    private Mono<LockAttempt> queued() {
        return Mono.just(new Queued(lookAgainWithin()));
    }

    private Mono<LockAttempt> contended() {
        return Mono.just(new Contended(lookAgainWithin()));
    }

    private Duration lookAgainWithin() {
        return SafetyNet.lookAgainWithin(session.proof().timeout(), claim.id());
    }

    <T> Mono<T> fail(Reply<?> reply) {
        return Mono.error(failure(reply));
    }

    LockBackendException failure(Reply<?> reply) {
        return ZooKeeperFailures.of(subject(), reply);
    }

    Subject subject() {
        return Subject.of("acquire", claim.key().name());
    }
}
