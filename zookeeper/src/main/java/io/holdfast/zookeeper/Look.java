package io.holdfast.zookeeper;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.zookeeper.Tree.Created;
import io.holdfast.zookeeper.ZooKeeperFailures.Subject;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One look of one claim: takes a place in the queue if it has none, finds out where that stands, and watches what it waits for. On the
 * strand, and alone for its claim.
 *
 * @param claim the look
 * @param place what the claim has so far
 * @param session connected a moment ago
 */
record Look(LockClaim claim, Place place, Session session, Tree tree, Places places) {

    /** A safety net: a waiter is told when to look. */
    static final Duration LOOK_AGAIN_WITHIN = Duration.ofSeconds(10);

    /** The parent can be taken away between being made and being used, but not for ever. */
    private static final int TRIES = 5;

    Mono<LockAttempt> answer() {
        place.findQueue(session);
        if (place.isIn(session)) {
            return place.isHeld() ? check(() -> hold(false)) : fromItsPlace();
        }
        if (place.belongsTo(session)) {
            return recover();
        }
        return queues() ? enter(TRIES) : unlessSomebodyIsThere();
    }

    private boolean queues() {
        return claim.waiting() == Waiting.QUEUE;
    }

    /** Nothing is written while somebody is in the way. */
    private Mono<LockAttempt> unlessSomebodyIsThere() {
        return tree.list(session, place.queue().path()).flatMap(listed -> {
            if (!listed.isOk()) {
                return listed.isNoNode() ? enter(TRIES) : fail(listed);
            }
            QueueNode blocker = Standing.blockerOfNewcomer(
                    Standing.inOrder(listed.get()),
                    claim.key().kind(),
                    claim.key().permits());
            return blocker == null ? enter(TRIES) : refused(blocker);
        });
    }

    private Mono<LockAttempt> refused(QueueNode blocker) {
        if (claim.waiting() == Waiting.NONE) {
            return contended();
        }
        String path = place.queue().of(blocker.name());
        places.expect(path, place);
        return tree.watch(session, path).flatMap(watched -> {
            if (watched.isNoNode()) {
                places.expectNothing(place);
                return unlessSomebodyIsThere();
            }
            return watched.isOk() ? contended() : fail(watched);
        });
    }

    /** Create and list go out back to back: the server answers one session in order, so the list has the new node in it. */
    private Mono<LockAttempt> enter(int tries) {
        return Mono.defer(() -> {
                    place.entering(session);
                    String prefix = QueueNode.prefix(claim, session.id());
                    return Mono.zip(
                            tree.enter(session, place.queue().of(prefix)),
                            tree.list(session, place.queue().path()));
                })
                .flatMap(both -> entered(both.getT1(), both.getT2(), tries));
    }

    private Mono<LockAttempt> entered(Reply<Created> created, Reply<List<String>> listed, int tries) {
        if (created.isOk()) {
            place.entered(session, created.get());
            return place.node().isPastTheEnd() ? beginAnew(tries) : judged(listed);
        }
        if (created.isRefused()) {
            place.left();
        } else {
            place.enteredPerhaps();
        }
        return created.isNoNode() && tries > 0 ? makeTheQueue(tries - 1) : fail(created);
    }

    private Mono<LockAttempt> makeTheQueue(int tries) {
        return tree.ensure(session, place.queue())
                .flatMap(made -> made.isOk() || made.isNoNode() ? enter(tries) : fail(made));
    }

    /**
     * The numbers are used up. A queue without nodes can be deleted, and begins again at 0; while there are nodes in it nobody new gets in,
     * so it will be empty soon. Tokens are not the numbers, and go on rising.
     */
    private Mono<LockAttempt> beginAnew(int tries) {
        return leave().flatMap(left -> tree.delete(session, place.queue().path()))
                .flatMap(deleted -> {
                    if (tries > 0 && (deleted.isOk() || deleted.isNoNode())) {
                        return enter(tries - 1);
                    }
                    return Mono.error(ZooKeeperFailures.numbersUsedUp(subject()));
                });
    }

    /** A creation of this session may have been carried out or not. */
    private Mono<LockAttempt> recover() {
        return ownNodes()
                .find()
                .flatMap(nodes -> nodes.isEmpty()
                        ? enter(TRIES)
                        : deleteAll(nodes.subList(1, nodes.size()))
                                .then(adopt(place.queue().of(nodes.get(0).name()))));
    }

    /** A creation that got lost was carried out after all, and after it was looked for. */
    private Mono<Void> deleteAll(List<QueueNode> nodes) {
        return Flux.fromIterable(nodes)
                .concatMap(node -> tree.delete(session, place.queue().of(node.name())))
                .concatMap(deleted -> deleted.isOk() || deleted.isNoNode() ? Mono.<Void>empty() : fail(deleted))
                .then();
    }

    private Mono<LockAttempt> adopt(String path) {
        return tree.stat(session, path).flatMap(found -> {
            if (!found.isOk()) {
                return found.isNoNode() ? enter(TRIES) : fail(found);
            }
            if (found.get().getEphemeralOwner() != session.id()) {
                return Mono.error(ZooKeeperFailures.vanished(subject()));
            }
            place.entered(session, new Created(path, found.get().getCzxid()));
            return fromItsPlace();
        });
    }

    private Mono<LockAttempt> fromItsPlace() {
        if (place.node().isPastTheEnd()) {
            return beginAnew(TRIES);
        }
        String watched = place.waitsFor();
        return watched != null && queues() && !place.isPermit() ? waitBehind(watched, this::inFull) : inFull();
    }

    /** The list comes after the check in the same session, so it is not older; and the check counts for the validity, if it is first. */
    private Mono<LockAttempt> inFull() {
        String queue = place.queue().path();
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

    private Mono<LockAttempt> judged(Reply<List<String>> listed) {
        if (!listed.isOk()) {
            return fail(listed);
        }
        if (!place.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while the answer was on its way
        }
        if (place.isDoubtful() && ownNodes().among(listed.get()).size() > 1) {
            places.expectNothing(place);
            place.entering(session);
            return recover(); // it would wait for itself
        }
        Standing standing = standing(listed);
        if (standing instanceof Standing.Holder holder) {
            return hold(holder.isFollowed());
        }
        if (standing instanceof Standing.Missing) {
            places.gone(place);
            return Mono.error(ZooKeeperFailures.vanished(subject()));
        }
        if (!queues()) {
            return new Withdrawal(place, session, tree, places).answer().flatMap(left -> contended());
        }
        return standing instanceof Standing.Behind behind
                ? waitBehind(place.queue().of(behind.name()), this::listAgain)
                : waitAtTheHead();
    }

    private OwnNodes ownNodes() {
        return new OwnNodes(place, session, tree, subject());
    }

    private Standing standing(Reply<List<String>> listed) {
        return Standing.of(Standing.inOrder(listed.get()), place.node().name());
    }

    private Mono<LockAttempt> listAgain() {
        return tree.list(session, place.queue().path()).flatMap(this::judged);
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

    private Mono<LockAttempt> waitAtTheHead() {
        String queue = place.queue().path();
        places.expect(queue, place);
        return tree.listAndWatch(session, queue).flatMap(listed -> {
            boolean isStillThere =
                    listed.isOk() && place.isIn(session) && standing(listed) instanceof Standing.AtTheHead;
            return isStillThere ? queued() : judged(listed);
        });
    }

    /** A session of which little is known yet, or little has been heard for a while, may need a second transaction, after the first. */
    private Mono<LockAttempt> hold(boolean isFollowed) {
        Grant grant = new Grant(place, session, tree, places, subject());
        return grant.isProved() ? grant.answer(isFollowed) : check(() -> grant.answer(isFollowed));
    }

    private Mono<Boolean> leave() {
        String path = place.knownPath();
        return tree.delete(session, path).flatMap(deleted -> {
            if (!deleted.isOk() && !deleted.isNoNode()) {
                return Mono.error(failure(deleted));
            }
            places.expectNothing(place);
            place.left();
            return Mono.just(true);
        });
    }

    private Mono<LockAttempt> queued() {
        return Mono.just(new Queued(lookAgainWithin()));
    }

    private Mono<LockAttempt> contended() {
        return Mono.just(new Contended(lookAgainWithin()));
    }

    private Duration lookAgainWithin() {
        return lookAgainWithin(claim);
    }

    static Duration lookAgainWithin(LockClaim claim) {
        Duration third = Duration.ofMillis(Math.max(1, claim.lease().toMillis() / 3));
        return third.compareTo(LOOK_AGAIN_WITHIN) < 0 ? third : LOOK_AGAIN_WITHIN;
    }

    private <T> Mono<T> fail(Reply<?> reply) {
        return Mono.error(failure(reply));
    }

    private LockBackendException failure(Reply<?> reply) {
        return ZooKeeperFailures.of(subject(), reply);
    }

    private Subject subject() {
        return Subject.of("acquire", claim.key().name());
    }
}
