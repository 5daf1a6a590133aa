package io.holdfast.zookeeper.internal.operation;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.LockQueues;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The part of an attempt that gives a claim its node in the queue: a new one, or one that an earlier attempt may have left. On the
 * executor, with no other operation of the claim at the same time.
 */
record NodeCreation(AcquireOperation acquire) {

    /** Between its creation and its use, the parent node can be removed, but not each time. */
    private static final int TRIES = 5;

    /** Creates the node at once, unless the queue is known to be long. */
    Mono<LockAttempt> enter() {
        return enter(TRIES);
    }

    private Mono<LockAttempt> enter(int tries) {
        return admitted(acquire.admission().enter(acquire.session(), queue()), tries);
    }

    private Mono<LockAttempt> admitted(Mono<Reply<Boolean>> admission, int tries) {
        return admission.flatMap(asked -> {
            if (!asked.isOk()) {
                return acquire.fail(asked);
            }
            if (asked.get() && acquire.isReleased().getAsBoolean()) {
                return leaveTheAdmission();
            }
            return asked.get() ? create(tries) : Mono.error(full());
        });
    }

    /** The claim waited for its admission and was released. This is a task of its own: it admits the next claim, which may be released, too. */
    private Mono<LockAttempt> leaveTheAdmission() {
        acquire.executor().run(() -> answered(null));
        return acquire.contended();
    }

    /** Whatever comes of it, the gate is notified, since a creation that it counts as under way keeps other claims out. */
    private Mono<LockAttempt> create(int tries) {
        return queues().mayBegin(acquire.queue()) ? beginOrWait(tries) : createInLine(tries);
    }

    /** The queue is missing. One claim creates it; the others wait, because they would pass that one if another client were faster. */
    private Mono<LockAttempt> beginOrWait(int tries) {
        return acquire.admission().begins(queue())
                ? begin(acquire.queue(), tries)
                : admitted(acquire.admission().enterAgain(queue()), tries);
    }

    /** Creates the queue with its first node. If another client was faster, creates the node alone. */
    private Mono<LockAttempt> begin(LockQueue<ClaimState> queue, int tries) {
        return Mono.defer(() -> {
                    state().entering(session());
                    queue.entering();
                    String path = state().queue()
                            .of(QueueNode.first(acquire.claim(), session().id()));
                    return zooKeeper().begin(session(), queue(), path, acquire.claim());
                })
                .doFinally(end -> queue.enteringAnswered())
                .doOnError(noRights -> beginningEnded(null))
                .flatMap(begun -> begun(queue, begun, tries));
    }

    private Mono<LockAttempt> begun(LockQueue<ClaimState> queue, Reply<Created> begun, int tries) {
        boolean isThere = begun.code() == Code.NODEEXISTS;
        if (begun.isOk() || isThere) {
            queues().isAnswered(queue, begun.isOk());
        }
        if (isThere) {
            queue.isThere();
            othersEnter();
            return createInLine(tries);
        }
        if (!begun.isOk()) {
            return notBegun(begun, tries);
        }
        beginningEnded(1);
        if (isLate()) {
            acquire.claims().leftBehind(begun.get().path());
            return Mono.error(ZooKeeperFailures.noSession(acquire.subject()));
        }
        state().entered(session(), begun.get());
        queue.begun(state().node(), state());
        acquire.claims().entered(state(), session());
        return acquire.fromItsPlace();
    }

    private void beginningEnded(@Nullable Integer size) {
        answered(size);
        othersEnter();
    }

    /** The other claims enter behind this one: in a task of their own, since this one may still have to send its creation. */
    private void othersEnter() {
        acquire.executor().run(() -> acquire.admission().open(session(), queue()));
    }

    private Mono<Reply<Created>> creation() {
        state().entering(session());
        String prefix = QueueNode.prefix(acquire.claim(), session().id());
        LockQueue<ClaimState> queue = acquire.queue();
        return zooKeeper()
                .enter(session(), state().queue().of(prefix), acquire.claim())
                .doOnNext(created -> enteredInLine(queue, created))
                .doFinally(end -> queue.enteringAnswered());
    }

    /**
     * Sends create and list back to back: the server answers one session in order, so the list contains the new node. Leaves the list out if
     * the number of the new node may show enough.
     */
    private Mono<LockAttempt> createInLine(int tries) {
        LockQueue<ClaimState> queue = acquire.queue();
        boolean isListed = state().isDoubtful() || !queue.mayDoWithoutList(QueueNode.newcomer(acquire.claim()));
        return Mono.fromSupplier(this::creation)
                .doOnError(noRights -> answered(null))
                .flatMap(creation -> {
                    Mono<Boolean> guarded = queue.wantsGuard() ? queues().guard(queue(), session()) : Mono.just(false);
                    queue.entering();
                    if (!isListed) {
                        return Mono.zip(creation, guarded).flatMap(it -> unlisted(queue, it.getT1(), tries));
                    }
                    int asked = queue.namesAsked();
                    return Mono.zip(creation, zooKeeper().list(session(), queue()), guarded)
                            .flatMap(it -> listed(queue, asked, it.getT1(), it.getT2(), tries));
                });
    }

    private void enteredInLine(LockQueue<ClaimState> queue, Reply<Created> created) {
        if (created.isOk() || created.isNoNode()) {
            queues().isAnswered(queue, created.isNoNode());
        }
        if (created.isOk() && isLate()) {
            acquire.claims().leftBehind(created.get().path());
        } else if (created.isOk()) {
            queue.isThere();
            state().entered(session(), created.get());
            if (!state().node().isPastTheEnd()) {
                queue.entered(state().node(), state());
                acquire.claims().entered(state(), session());
            }
        } else if (created.isNoNode()) {
            queue.isMissing();
        }
    }

    private Mono<LockAttempt> unlisted(LockQueue<ClaimState> queue, Reply<Created> created, int tries) {
        if (!isInLine(created)) {
            return notInLine(created, tries);
        }
        int most = queue.mostPlaces(state().node());
        if (most < places() / 2) {
            answered(most);
            return acquire.inLine();
        }
        return queues().list(queue(), session()).flatMap(listed -> {
            answered(sizeOf(listed));
            return unlessItIsFull(listed);
        });
    }

    private Mono<LockAttempt> listed(
            LockQueue<ClaimState> queue, int asked, Reply<Created> created, Reply<List<String>> listed, int tries) {
        if (!isInLine(created)) {
            queue.namesNotRead();
            return notInLine(created, tries);
        }
        answered(sizeOf(listed));
        if (!listed.isOk()) {
            queue.namesNotRead();
            return acquire.judged(listed);
        }
        if (mayBeSeenWaiting(listed.get())) {
            state().stands();
        }
        return queues().learn(queue, asked, state().node().sequence(), listed).flatMap(this::unlessItIsFull);
    }

    private boolean isInLine(Reply<Created> created) {
        return created.isOk() && state().isIn(session()) && !state().node().isPastTheEnd();
    }

    private Mono<LockAttempt> notInLine(Reply<Created> created, int tries) {
        if (created.isNoNode() && tries > 0) {
            state().left();
            return beginOrWait(tries - 1);
        }
        answered(null);
        if (!created.isOk()) {
            return notCreated(created);
        }
        return state().isIn(session())
                ? beginAnew(tries)
                : Mono.error(
                        ZooKeeperFailures.noSession(acquire.subject())); // the session ended, or the node was deleted
    }

    /** True if the session has ended since the creation was sent: its client was replaced by another one, but still answers. */
    private boolean isLate() {
        return !state().belongsTo(session());
    }

    private void answered(@Nullable Integer size) {
        acquire.admission().answered(session(), queue(), size);
    }

    private static @Nullable Integer sizeOf(Reply<List<String>> listed) {
        return listed.isOk() ? (Integer) listed.get().size() : null;
    }

    /** Whether another client may have listed the queue while this node did not hold, if it is one for a permit. */
    private boolean mayBeSeenWaiting(List<String> names) {
        int own = state().node().sequence();
        return names.size() > acquire.claim().key().permits()
                || zooKeeper().isLong(names)
                || names.stream().anyMatch(name -> QueueNode.sequenceOf(name) > own);
    }

    private Mono<LockAttempt> notBegun(Reply<Created> begun, int tries) {
        if (begun.isNoNode() && tries > 0) {
            state().left();
            return makeRoom(tries - 1);
        }
        beginningEnded(null);
        return notCreated(begun);
    }

    private Mono<LockAttempt> notCreated(Reply<Created> created) {
        if (created.isRefused()) {
            state().left();
        } else {
            state().enteredPerhaps();
        }
        return acquire.fail(created);
    }

    /** Other claims entered meanwhile. Each claim that sees too many nodes in front leaves, so that no more than the limit stay. */
    private Mono<LockAttempt> unlessItIsFull(Reply<List<String>> listed) {
        boolean isTooFarBehind = listed.isOk()
                && state().isIn(session())
                && listed.get().size() > places()
                && namesInFront(listed.get()) >= places();
        return isTooFarBehind ? giveUp() : acquire.judged(listed);
    }

    /** The count may contain names that are no places: they, too, take room in a list. */
    private long namesInFront(List<String> names) {
        int own = state().node().sequence();
        return names.stream()
                .mapToInt(QueueNode::sequenceOf)
                .filter(it -> it >= 0 && it < own)
                .count();
    }

    /** The queue is full, so the claim leaves it. */
    Mono<LockAttempt> giveUp() {
        return acquire.leave().flatMap(left -> Mono.error(full()));
    }

    /** Creates the nodes above the queue. */
    private Mono<LockAttempt> makeRoom(int tries) {
        List<String> nodes = state().queue().fromTheTop();
        return Mono.defer(() -> zooKeeper().ensure(session(), nodes))
                .doOnError(noRights -> beginningEnded(null))
                .flatMap(made -> {
                    boolean isChrootMissing = made.isNoNode() && made.path().equals(nodes.get(0));
                    if (!isChrootMissing && (made.isOk() || made.isNoNode())) {
                        return begin(acquire.queue(), tries);
                    }
                    beginningEnded(null);
                    return isChrootMissing
                            ? Mono.error(ZooKeeperFailures.noChroot(acquire.subject(), session()))
                            : acquire.fail(made);
                });
    }

    /**
     * The numbers are used up. A queue without nodes can be deleted, and then starts again at 0. While it has nodes, no claim can enter, so
     * it will be empty soon. Fencing tokens are not these numbers and keep rising.
     */
    Mono<LockAttempt> beginAnew() {
        return beginAnew(TRIES);
    }

    private Mono<LockAttempt> beginAnew(int tries) {
        return acquire.leave()
                .flatMap(left -> zooKeeper().delete(session(), queue()))
                .flatMap(deleted -> {
                    if (tries > 0 && deleted.isDeleted()) {
                        queues().forget(queue());
                        return enter(tries - 1);
                    }
                    return Mono.error(ZooKeeperFailures.numbersUsedUp(acquire.subject()));
                });
    }

    /** The outcome of an earlier creation of this session is unknown. */
    Mono<LockAttempt> recover() {
        return acquire.ownNodes()
                .find()
                .onErrorMap(ZooKeeperFailures::isTooLong, it -> full())
                .flatMap(nodes -> nodes.isEmpty()
                        ? enter()
                        : deleteAll(nodes.subList(1, nodes.size()))
                                .then(adopt(state().queue().of(nodes.get(0).name()))));
    }

    /** A creation whose answer was lost succeeded after all, after the attempt had looked for its node. */
    private Mono<Void> deleteAll(List<QueueNode> nodes) {
        return Flux.fromIterable(nodes)
                .concatMap(node -> zooKeeper().delete(session(), state().queue().of(node.name())))
                .concatMap(deleted -> deleted.isDeleted() ? noted(deleted.path()) : acquire.fail(deleted))
                .then();
    }

    private Mono<Void> noted(String gone) {
        queues().gone(gone);
        return Mono.empty();
    }

    private Mono<LockAttempt> adopt(String path) {
        return zooKeeper().stat(session(), path).flatMap(found -> {
            if (!found.isOk()) {
                return found.isNoNode() ? enter() : acquire.fail(found);
            }
            if (found.get().getEphemeralOwner() != session().id()) {
                return Mono.error(ZooKeeperFailures.vanished(acquire.subject()));
            }
            state().entered(session(), new Created(path, found.get().getCzxid()));
            if (!state().node().isPastTheEnd()) {
                acquire.queue().adopted(state().node(), state());
            }
            acquire.claims().entered(state(), session());
            return acquire.fromItsPlace();
        });
    }

    private RuntimeException full() {
        return ZooKeeperFailures.queueFull(
                acquire.subject(), acquire.admission().limit(session()));
    }

    private LockQueues queues() {
        return acquire.claims().queues();
    }

    private int places() {
        return acquire.admission().limit(session()).places();
    }

    private String queue() {
        return state().queue().path();
    }

    private ClaimState state() {
        return acquire.state();
    }

    private Session session() {
        return acquire.session();
    }

    private AsyncZooKeeper zooKeeper() {
        return acquire.zooKeeper();
    }
}
