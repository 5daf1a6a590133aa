package io.holdfast.zookeeper.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.queue.QueuePosition;
import io.holdfast.zookeeper.internal.session.Session;
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
 * @param state what the claim has so far
 * @param session connected a moment ago
 * @param admission of the queues
 */
record AcquireOperation(
        LockClaim claim,
        ClaimState state,
        Session session,
        AsyncZooKeeper zooKeeper,
        ClaimRegistry claims,
        QueueAdmission admission,
        SerialExecutor executor) {

    Mono<LockAttempt> answer() {
        state.findQueue(session);
        if (state.isIn(session)) {
            return state.isHeld() ? check(() -> hold(false)) : fromItsPlace();
        }
        if (state.belongsTo(session)) {
            return nodeCreation().recover();
        }
        return queues() ? enter() : unlessSomebodyIsThere();
    }

    /** It may have waited, without a node, for one that went away. */
    private Mono<LockAttempt> enter() {
        claims.expectNothing(state);
        return nodeCreation().enter();
    }

    private NodeCreation nodeCreation() {
        return new NodeCreation(this);
    }

    boolean queues() {
        return claim.waiting() == Waiting.QUEUE;
    }

    /** Nothing is written while somebody is in the way. */
    private Mono<LockAttempt> unlessSomebodyIsThere() {
        String queue = state.queue().path();
        return whenFree(
                state.isPermit()
                        ? zooKeeper.list(session, queue)
                        : claims.queues().list(queue, session),
                this::refused);
    }

    private Mono<LockAttempt> whenFree(
            Mono<Reply<List<String>>> list, Function<QueueNode, Mono<LockAttempt>> otherwise) {
        return list.flatMap(listed -> {
            if (!listed.isOk()) {
                return listed.isNoNode() ? enter() : fail(listed);
            }
            return zooKeeper
                    .read(
                            listed.get(),
                            () -> Optional.ofNullable(QueuePosition.blockerOfNewcomer(
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
        return state.isPermit() ? refusedPermit() : refusedBehind(state.queue().of(blocker.name()));
    }

    private Mono<LockAttempt> refusedBehind(String path) {
        claims.expect(path, state);
        return zooKeeper.watch(session, path).flatMap(watched -> {
            if (watched.isNoNode()) {
                claims.expectNothing(state);
                return unlessSomebodyIsThere();
            }
            return watched.isOk() ? contended() : fail(watched);
        });
    }

    /** Any of the nodes may make room. */
    private Mono<LockAttempt> refusedPermit() {
        String queue = state.queue().path();
        claims.expect(queue, state);
        return whenFree(zooKeeper.listAndWatch(session, queue), blocker -> contended());
    }

    Mono<LockAttempt> fromItsPlace() {
        if (state.node().isPastTheEnd()) {
            return nodeCreation().beginAnew();
        }
        if (!state.isPermit()) {
            return queue().has(state.node()) ? inItsPlace() : leaveAndBeginAnew();
        }
        String watched = state.waitsFor();
        return watched != null && queues() ? unlessItStillWaits(watched) : inFull();
    }

    private Mono<LockAttempt> inItsPlace() {
        return state.isDoubtful() ? listAgain() : inLine();
    }

    /** An earlier look gave the place up, and the deletion failed. Claims of the session behind it may have passed it since. */
    private Mono<LockAttempt> leaveAndBeginAnew() {
        return leave().flatMap(left -> answer());
    }

    /** Nothing was told of what it waits for, so this only reads; what it finds, it does not act on without a transaction. */
    private Mono<LockAttempt> unlessItStillWaits(String watched) {
        if (watched.equals(state.queue().path())) {
            return waitAtTheHead(listed -> inFull());
        }
        return state.isPermit() && state.isListDue()
                ? zooKeeper
                        .list(session, state.queue().path())
                        .flatMap(listed -> unlessItIsStillBehind(watched, listed))
                : waitBehind(watched, this::inFull);
    }

    private Mono<LockAttempt> unlessItIsStillBehind(String watched, Reply<List<String>> listed) {
        if (!listed.isOk()) {
            return inFull();
        }
        return standing(listed)
                .flatMap(standing -> standing instanceof QueuePosition.Behind behind
                                && watched.equals(state.queue().of(behind.name()))
                        ? queued()
                        : inFull());
    }

    /** The list comes after the check in the same session, so it is not older; and the check counts for the validity, if it is first. */
    private Mono<LockAttempt> inFull() {
        String queue = state.queue().path();
        if (session.validity().suffices(executor.now())) {
            return listAgain();
        }
        return Mono.zip(zooKeeper.check(session, List.of(state.knownPath())), zooKeeper.list(session, queue))
                .flatMap(both -> checked(both.getT1(), () -> judged(both.getT2())));
    }

    private Mono<LockAttempt> check(Supplier<Mono<LockAttempt>> whenThere) {
        return zooKeeper.check(session, List.of(state.knownPath())).flatMap(it -> checked(it, whenThere));
    }

    private Mono<LockAttempt> checked(Reply<List<Code>> checked, Supplier<Mono<LockAttempt>> whenThere) {
        if (!checked.isOk()) {
            return fail(checked);
        }
        Code code = checked.get().get(0);
        if (code == Code.NONODE) {
            claims.gone(state);
            return Mono.error(ZooKeeperFailures.vanished(subject()));
        }
        return code == Code.OK ? whenThere.get() : fail(Reply.of(code.intValue(), checked.path(), null));
    }

    Mono<LockAttempt> judged(Reply<List<String>> listed) {
        if (listed.isTooLong() && state.isIn(session) && !state.hasStood()) {
            return nodeCreation().giveUp();
        }
        if (!listed.isOk()) {
            return fail(listed);
        }
        if (!state.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while the answer was on its way
        }
        if (state.isDoubtful() && ownNodes().among(listed.get()).size() > 1) {
            claims.expectNothing(state);
            if (!state.isPermit()) {
                queue().isDoubtful(state.node());
                claims.guardNoLonger(state);
            }
            state.entering(session);
            return nodeCreation().recover(); // it would wait for itself
        }
        return state.isPermit() ? standing(listed).flatMap(this::decided) : inLine();
    }

    /** By what the session knows of the queue. */
    Mono<LockAttempt> inLine() {
        if (!state.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while an answer was on its way
        }
        LockQueue<ClaimState> queue = queue();
        return switch (queue.position(state.node())) {
            case FIRST -> hold(false);
            case UNKNOWN -> listAgain();
            case BEHIND -> queues() ? waitInLine(queue) : leave().flatMap(left -> contended());
        };
    }

    /** The first that waits watches the node in front of it, and reads that again when the clock asks for an attempt. */
    private Mono<LockAttempt> waitInLine(LockQueue<ClaimState> queue) {
        state.stands();
        QueueNode blocker = queue.blockerToWatch(state.node());
        if (blocker == null) {
            return queued();
        }
        return claims.queues().watch(state.queue().path(), blocker, session).flatMap(watched -> {
            if (watched.isNoNode()) {
                claims.queues().gone(watched.path());
                return inLine();
            }
            return watched.isOk() ? queued() : fail(watched);
        });
    }

    LockQueue<ClaimState> queue() {
        return claims.queues().at(state.queue().path());
    }

    private Mono<LockAttempt> decided(QueuePosition standing) {
        if (!state.isIn(session)) {
            return Mono.error(ZooKeeperFailures.noSession(subject())); // it ended while the list was read
        }
        if (standing instanceof QueuePosition.Holder holder) {
            return hold(holder.isFollowed());
        }
        if (standing instanceof QueuePosition.Missing) {
            claims.gone(state);
            return Mono.error(ZooKeeperFailures.vanished(subject()));
        }
        if (!queues()) {
            return leave().flatMap(left -> contended());
        }
        return standing instanceof QueuePosition.Behind behind
                ? waitBehind(state.queue().of(behind.name()), this::listAgain)
                : waitAtTheHead(this::judged);
    }

    /** Gives its place back, whatever it is. */
    Mono<Ownership> leave() {
        return new ReleaseOperation(state, session, zooKeeper, claims).answer();
    }

    OwnNodes ownNodes() {
        return new OwnNodes(state, session, zooKeeper, subject());
    }

    private Mono<QueuePosition> standing(Reply<List<String>> listed) {
        QueueNode own = state.node();
        return zooKeeper.read(listed.get(), () -> QueuePosition.of(listed.get(), own));
    }

    private Mono<LockAttempt> listAgain() {
        if (state.isPermit()) {
            return zooKeeper.list(session, state.queue().path()).flatMap(this::judged);
        }
        return claims.queues().list(state.queue().path(), session).flatMap(this::judged);
    }

    private Mono<LockAttempt> waitBehind(String path, Supplier<Mono<LockAttempt>> whenItIsGone) {
        claims.expect(path, state);
        return zooKeeper.watch(session, path).flatMap(watched -> {
            boolean holdsMeanwhile =
                    state.isPermit() && watched.isOk() && Arrays.equals(AsyncZooKeeper.HOLDS, watched.get());
            if (watched.isNoNode() || holdsMeanwhile) {
                claims.expectNothing(state);
                return whenItIsGone.get();
            }
            return watched.isOk() ? queued() : fail(watched);
        });
    }

    private Mono<LockAttempt> waitAtTheHead(Function<Reply<List<String>>, Mono<LockAttempt>> whenItIsNot) {
        String queue = state.queue().path();
        claims.expect(queue, state);
        return zooKeeper
                .listAndWatch(session, queue)
                .flatMap(listed -> !listed.isOk() || !state.isIn(session)
                        ? whenItIsNot.apply(listed)
                        : standing(listed)
                                .flatMap(standing -> standing instanceof QueuePosition.AtTheHead
                                        ? queued()
                                        : whenItIsNot.apply(listed)));
    }

    /** A session of which little is known yet, or little has been heard for a while, may need a second transaction, after the first. */
    private Mono<LockAttempt> hold(boolean isFollowed) {
        boolean unused = state.tell();
        LeaseGrant grant = grant();
        return grant.isProved() ? grant.answer(isFollowed) : check(() -> grant().answer(isFollowed));
    }

    private LeaseGrant grant() {
        return new LeaseGrant(state, session, claims, subject(), executor.now());
    }

    private Mono<LockAttempt> queued() {
        return Mono.just(new Queued(lookAgainWithin()));
    }

    private Mono<LockAttempt> contended() {
        return Mono.just(new Contended(lookAgainWithin()));
    }

    private Duration lookAgainWithin() {
        return RecheckInterval.lookAgainWithin(session.validity().timeout(), claim.id());
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
