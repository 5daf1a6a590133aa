package io.holdfast.zookeeper.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Contended;
import io.holdfast.spi.LockAttempt.Queued;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.LockQueues;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.NewerFormException;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.queue.QueueStanding;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import reactor.core.publisher.Mono;

/**
 * One attempt of one claim. It creates the claim's node if there is none, finds out whether the node is first, and watches the node in
 * front. On the executor, with no other operation of the claim at the same time. {@link NodeCreation} is a
 * part of it.
 *
 * @param claim the claim with the options of this attempt
 * @param state what the claim has so far
 * @param session connected a moment ago
 * @param admission limits how many claims enter a queue at once
 * @param isReleased whether the release of the claim was requested meanwhile
 */
record AcquireOperation(
        LockClaim claim,
        ClaimState state,
        Session session,
        AsyncZooKeeper zooKeeper,
        ClaimRegistry claims,
        QueueAdmission admission,
        SerialExecutor executor,
        BooleanSupplier isReleased) {

    Mono<LockAttempt> answer() {
        state.findQueue(session);
        if (state.isIn(session)) {
            return state.isHeld() ? held() : fromItsPlace();
        }
        if (state.belongsTo(session)) {
            return nodeCreation().recover();
        }
        return queues() ? enter() : withoutNode();
    }

    /** A writer may become a reader, but a reader may not become a writer. */
    private Mono<LockAttempt> held() {
        if (state.side() == claim.key().kind()) {
            return check(() -> hold());
        }
        return claim.key().kind() == LockKind.READ ? downgrade() : contended();
    }

    /** The node keeps its place. Clients that watch it are notified that its data has changed, and read that it is a reader's now. */
    private Mono<LockAttempt> downgrade() {
        return zooKeeper.markReader(session, state.knownPath(), state.claim()).flatMap(marked -> {
            if (marked.isNoNode()) {
                claims.gone(state);
                return Mono.error(ZooKeeperFailures.vanished(subject()));
            }
            if (!marked.isOk()) {
                return fail(marked);
            }
            if (!state.isIn(session)) {
                return Mono.error(ZooKeeperFailures.noSession(subject()));
            }
            state.reads();
            claims.queues().reads(state);
            return hold();
        });
    }

    Mono<LockAttempt> enter() {
        return nodeCreation().enter();
    }

    private NodeCreation nodeCreation() {
        return new NodeCreation(this);
    }

    boolean queues() {
        return claim.waiting() == Waiting.QUEUE;
    }

    /** The attempt of a claim that does not queue. While a node blocks it, it writes nothing. */
    private Mono<LockAttempt> withoutNode() {
        return claims.queues().list(path(), session).flatMap(listed -> {
            if (!listed.isOk()) {
                if (!listed.isNoNode()) {
                    return fail(listed);
                }
                queue().isMissing();
                return enter();
            }
            return zooKeeper
                    .read(
                            listed.get(),
                            () -> Optional.ofNullable(QueueStanding.blockerOf(QueueNode.newcomer(claim), listed.get())))
                    .onErrorMap(
                            NewerFormException.class,
                            newer -> failure(Reply.newer(state.queue().of(newer.node()))))
                    .flatMap(blocker -> blocker.map(this::refused).orElseGet(this::enter));
        });
    }

    /** A blocker of a reader is the nearest writer. If that was the first node, and has become a reader, there is no other writer. */
    private Mono<LockAttempt> refused(QueueNode blocker) {
        if (claim.key().kind() != LockKind.READ) {
            return contended();
        }
        return zooKeeper.content(session, state.queue().of(blocker.name())).flatMap(read -> {
            if (!read.isOk() || !read.get().reads()) {
                return contended();
            }
            queue().reads(blocker);
            return enter();
        });
    }

    Mono<LockAttempt> fromItsPlace() {
        if (state.node().isPastTheEnd()) {
            return nodeCreation().beginAnew();
        }
        return queue().has(state.node()) ? inItsPlace() : leaveAndBeginAnew();
    }

    private Mono<LockAttempt> inItsPlace() {
        return state.isDoubtful() ? listAgain() : inLine();
    }

    /** An earlier attempt gave the place up, but the deletion failed. Since then, later claims of the session may have passed it. */
    private Mono<LockAttempt> leaveAndBeginAnew() {
        return leave().flatMap(left -> answer());
    }

    private Mono<LockAttempt> check(Supplier<Mono<LockAttempt>> whenThere) {
        return zooKeeper.check(session, List.of(state.knownPath())).flatMap(checked -> {
            if (!checked.isOk()) {
                return fail(checked);
            }
            Code code = checked.get().get(0);
            if (code == Code.NONODE) {
                claims.gone(state);
                return Mono.error(ZooKeeperFailures.vanished(subject()));
            }
            return code == Code.OK ? whenThere.get() : fail(Reply.of(code.intValue(), checked.path(), null));
        });
    }

    Mono<LockAttempt> judged(Reply<List<String>> listed) {
        if (listed.isTooLong() && state.isIn(session) && !state.hasStood()) {
            return nodeCreation().giveUp();
        }
        if (listed.isNewer()) {
            return leave().flatMap(left -> fail(listed));
        }
        if (!listed.isOk()) {
            return fail(listed);
        }
        if (!state.isIn(session)) {
            return Mono.error(
                    ZooKeeperFailures.noSession(subject())); // the session ended while the answer was on its way
        }
        if (state.isDoubtful() && ownNodes().among(listed.get()).size() > 1) {
            queue().isDoubtful(state.node());
            claims.guardNoLonger(state);
            state.entering(session);
            return nodeCreation().recover(); // otherwise the claim would wait for its own second node
        }
        return inLine();
    }

    /** Decides by what the session knows of the queue. */
    Mono<LockAttempt> inLine() {
        if (!state.isIn(session)) {
            return Mono.error(
                    ZooKeeperFailures.noSession(subject())); // the session ended while an answer was on its way
        }
        LockQueue<ClaimState> queue = queue();
        return switch (queue.position(state.node())) {
            case FIRST -> hold();
            case UNKNOWN -> state.hasStood() && queues() && queue.isReading() ? awaitTheList() : listAgain();
            case BEHIND -> queues() ? waitInLine(queue) : leaveContended();
        };
    }

    /**
     * The first waiter watches the node in front of it, or the names. When the recheck time is over, it reads that node or the names again.
     */
    private Mono<LockAttempt> waitInLine(LockQueue<ClaimState> queue) {
        state.stands();
        if (queue.isAtTheHead(state.node())) {
            return claims.queues().list(path(), session).flatMap(this::unlessItIsStillAtTheHead);
        }
        QueueNode blocker = queue.blockerToWatch(state.node());
        if (blocker == null) {
            queue.await();
            return queued();
        }
        return claims.queues().watch(path(), blocker, session).flatMap(watched -> {
            queue.await(); // what it shows may also make claims behind this one first
            if (watched.isNoNode()) {
                claims.queues().gone(watched.path());
                return inLine();
            }
            if (LockQueues.isReader(watched) || LockQueues.isHolder(watched)) {
                return inLine();
            }
            return watched.isOk() ? queued() : fail(watched);
        });
    }

    private Mono<LockAttempt> unlessItIsStillAtTheHead(Reply<List<String>> listed) {
        boolean isStill = listed.isOk() && state.isIn(session) && queue().isAtTheHead(state.node());
        return isStill ? queued() : judged(listed);
    }

    LockQueue<ClaimState> queue() {
        return claims.queues().at(path());
    }

    private String path() {
        return state.queue().path();
    }

    /** Deletes the node, and any node that a creation with an unknown outcome may have left. */
    Mono<Ownership> leave() {
        return new ReleaseOperation(state, session, zooKeeper, claims).answer();
    }

    Mono<LockAttempt> leaveContended() {
        return leave().flatMap(left -> contended());
    }

    OwnNodes ownNodes() {
        return new OwnNodes(state, session, zooKeeper, subject());
    }

    /** A list is under way. Its answer will show the position of all waiters, which need no lists of their own. */
    private Mono<LockAttempt> awaitTheList() {
        state.mayBeTold();
        queue().await();
        return queued();
    }

    private Mono<LockAttempt> listAgain() {
        return claims.queues().list(path(), session).flatMap(listed -> {
            if (listed.isOk()) {
                state.stands(); // another client may have listed it before it holds
            }
            return judged(listed);
        });
    }

    /** A session that is new, or was silent for a while, may need a second transaction after the first. */
    private Mono<LockAttempt> hold() {
        boolean unused = state.tell();
        if (isProved()) {
            return granted();
        }
        state.stands(); // another client may list it before it holds
        return check(this::granted);
    }

    /** Whether the session is proved for long enough, without another transaction. */
    private boolean isProved() {
        SessionValidity validity = session.validity();
        if (state.isHeld()) {
            return validity.isLease();
        }
        return validity.suffices(executor.now()) || (validity.agreedSince(state.askedNanos()) && validity.suffices());
    }

    /**
     * The proof may be older than the attempt. So the lease is counted from the start of the attempt, and ends when the session may end. If the
     * session is not proved for long enough, the claim keeps its place, and the next attempt may succeed.
     */
    private Mono<LockAttempt> granted() {
        if (!state.isIn(session) || !session.isAlive()) {
            return Mono.error(ZooKeeperFailures.noSession(subject()));
        }
        if (!isProved()) {
            return Mono.error(ZooKeeperFailures.notProven(subject(), session));
        }
        if (!state.isHeld()) {
            claims.hold(state, session);
        }
        return Mono.just(
                new LockAttempt.Acquired(state.zxid(), session.validity().validFrom(state.askedNanos())));
    }

    Mono<LockAttempt> queued() {
        return Mono.just(new Queued(nextAttemptWithin()));
    }

    Mono<LockAttempt> contended() {
        return Mono.just(new Contended(nextAttemptWithin()));
    }

    private Duration nextAttemptWithin() {
        return RecheckInterval.nextAttemptWithin(session.validity().timeout(), claim.id());
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
