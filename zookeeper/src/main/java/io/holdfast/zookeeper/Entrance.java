package io.holdfast.zookeeper;

import io.holdfast.spi.LockAttempt;
import io.holdfast.zookeeper.Tree.Created;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The part of a look that gives a claim its place in the queue: a new one, or one that an earlier look may have left. On the strand, and
 * alone for its claim.
 */
record Entrance(Look look) {

    /** The parent can be taken away between being made and being used, but not for ever. */
    private static final int TRIES = 5;

    /** At once, unless the queue is known to be long. */
    Mono<LockAttempt> enter() {
        return enter(TRIES);
    }

    private Mono<LockAttempt> enter(int tries) {
        return look.gates().enter(look.session(), queue()).flatMap(asked -> {
            if (!asked.isOk()) {
                return look.fail(asked);
            }
            return asked.get() ? create(tries) : Mono.error(full());
        });
    }

    /**
     * Create and list go out back to back: the server answers one session in order, so the list has the new node in it. The gate is told in
     * any case: what it takes for under way keeps others out.
     */
    private Mono<LockAttempt> create(int tries) {
        if (!place().isPermit()) {
            return createInLine(tries);
        }
        return Mono.defer(() -> Mono.zip(creation(), tree().list(session(), queue())))
                .doOnError(notSent -> look.gates().answered(session(), queue(), null))
                .flatMap(both -> {
                    try {
                        return entered(both.getT1(), both.getT2(), tries);
                    } finally {
                        look.gates().answered(session(), queue(), sizeOf(both.getT2()));
                    }
                });
    }

    private Mono<Reply<Created>> creation() {
        place().entering(session());
        String prefix = QueueNode.prefix(look.claim(), session().id());
        return tree().enter(session(), place().queue().of(prefix));
    }

    /** The list is left out when the number of the new node may tell enough. */
    private Mono<LockAttempt> createInLine(int tries) {
        return Mono.defer(() -> {
            LockQueue<Place> queue = look.queue();
            boolean isListed = place().isDoubtful()
                    || !queue.mayDoWithoutList(look.claim().key().kind());
            Mono<Boolean> guarded = queue.wantsGuard() ? queues().guard(queue(), session()) : Mono.just(false);
            Mono<Reply<Created>> created = Mono.defer(this::creation)
                    .doOnNext(it -> enteredInLine(queue, it))
                    .doFinally(end -> queue.enteringAnswered());
            queue.entering();
            if (!isListed) {
                return Mono.zip(created, guarded)
                        .doOnError(notSent -> look.gates().answered(session(), queue(), null))
                        .flatMap(it -> unlisted(queue, it.getT1(), tries));
            }
            int asked = queue.namesAsked();
            return Mono.zip(created, tree().list(session(), queue()), guarded)
                    .doOnError(notSent -> {
                        queue.namesNotRead();
                        look.gates().answered(session(), queue(), null);
                    })
                    .flatMap(it -> listed(queue, asked, it.getT1(), it.getT2(), tries));
        });
    }

    private void enteredInLine(LockQueue<Place> queue, Reply<Created> created) {
        if (created.isOk() && isLate()) {
            look.places().leftBehind(created.get().path());
        } else if (created.isOk()) {
            place().entered(session(), created.get());
            if (!place().node().isPastTheEnd()) {
                queue.entered(place().node(), place());
                look.places().entered(place(), session());
            }
        } else if (created.isNoNode()) {
            queue.forgetAll();
        }
    }

    private Mono<LockAttempt> unlisted(LockQueue<Place> queue, Reply<Created> created, int tries) {
        boolean isIn = created.isOk() && place().isIn(session());
        if (!isIn || place().node().isPastTheEnd()) {
            look.gates().answered(session(), queue(), null);
            return notInLine(created, tries);
        }
        int most = queue.mostPlaces(place().node());
        if (most < places() / 2) {
            look.gates().answered(session(), queue(), most);
            return look.inLine();
        }
        return queues().list(queue(), session()).flatMap(listed -> {
            look.gates().answered(session(), queue(), sizeOf(listed));
            return unlessItIsFull(listed);
        });
    }

    private Mono<LockAttempt> listed(
            LockQueue<Place> queue, int asked, Reply<Created> created, Reply<List<String>> listed, int tries) {
        look.gates().answered(session(), queue(), sizeOf(listed));
        boolean isIn = created.isOk() && place().isIn(session());
        if (!isIn || place().node().isPastTheEnd()) {
            queue.namesNotRead();
            return notInLine(created, tries);
        }
        if (!listed.isOk()) {
            queue.namesNotRead();
            return look.judged(listed);
        }
        return queues().learn(queue, asked, place().node().sequence(), listed).flatMap(this::unlessItIsFull);
    }

    private Mono<LockAttempt> notInLine(Reply<Created> created, int tries) {
        if (!created.isOk()) {
            return notCreated(created, tries);
        }
        return place().isIn(session())
                ? beginAnew(tries)
                : Mono.error(ZooKeeperFailures.noSession(look.subject())); // it ended, or the node was deleted
    }

    /** The session counts as ended since the creation was sent: its client was replaced by another one, and still answers. */
    private boolean isLate() {
        return !place().belongsTo(session());
    }

    private static @Nullable Integer sizeOf(Reply<List<String>> listed) {
        return listed.isOk() ? (Integer) listed.get().size() : null;
    }

    private Mono<LockAttempt> entered(Reply<Created> created, Reply<List<String>> listed, int tries) {
        if (created.isOk() && isLate()) {
            look.places().leftBehind(created.get().path());
            return Mono.error(ZooKeeperFailures.noSession(look.subject()));
        }
        if (created.isOk()) {
            place().entered(session(), created.get());
            look.places().entered(place(), session());
            return place().node().isPastTheEnd() ? beginAnew(tries) : unlessItIsFull(listed);
        }
        return notCreated(created, tries);
    }

    private Mono<LockAttempt> notCreated(Reply<Created> created, int tries) {
        if (created.isRefused()) {
            place().left();
        } else {
            place().enteredPerhaps();
        }
        return created.isNoNode() && tries > 0 ? makeTheQueue(tries - 1) : look.fail(created);
    }

    /** Others entered meanwhile. Each that sees too many in front leaves, so that those that stay are no more than the limit. */
    private Mono<LockAttempt> unlessItIsFull(Reply<List<String>> listed) {
        boolean isTooFarBehind = listed.isOk()
                && place().isIn(session())
                && listed.get().size() > places()
                && new Standing.Names(listed.get()).countInFront(place().node()) >= places();
        return isTooFarBehind ? giveUp() : look.judged(listed);
    }

    /** The queue is full: leaves it. */
    Mono<LockAttempt> giveUp() {
        return look.leave().flatMap(left -> Mono.error(full()));
    }

    private Mono<LockAttempt> makeTheQueue(int tries) {
        return tree().ensure(session(), place().queue())
                .flatMap(made -> made.isOk() || made.isNoNode() ? enter(tries) : look.fail(made));
    }

    /**
     * The numbers are used up. A queue without nodes can be deleted, and begins again at 0; while there are nodes in it no claim gets in,
     * so it will be empty soon. Tokens are not the numbers, and go on rising.
     */
    Mono<LockAttempt> beginAnew() {
        return beginAnew(TRIES);
    }

    private Mono<LockAttempt> beginAnew(int tries) {
        return look.leave().flatMap(left -> tree().delete(session(), queue())).flatMap(deleted -> {
            if (tries > 0 && (deleted.isOk() || deleted.isNoNode())) {
                queues().forget(queue());
                return enter(tries - 1);
            }
            return Mono.error(ZooKeeperFailures.numbersUsedUp(look.subject()));
        });
    }

    /** A creation of this session may have been carried out or not. */
    Mono<LockAttempt> recover() {
        return look.ownNodes()
                .find()
                .onErrorMap(ZooKeeperFailures::isTooLong, it -> full())
                .flatMap(nodes -> nodes.isEmpty()
                        ? enter()
                        : deleteAll(nodes.subList(1, nodes.size()))
                                .then(adopt(place().queue().of(nodes.get(0).name()))));
    }

    /** A creation that got lost was carried out after all, and after it was looked for. */
    private Mono<Void> deleteAll(List<QueueNode> nodes) {
        return Flux.fromIterable(nodes)
                .concatMap(node -> tree().delete(session(), place().queue().of(node.name())))
                .concatMap(deleted -> deleted.isOk() || deleted.isNoNode() ? noted(deleted.path()) : look.fail(deleted))
                .then();
    }

    private Mono<Void> noted(String gone) {
        queues().gone(gone);
        return Mono.empty();
    }

    private Mono<LockAttempt> adopt(String path) {
        return tree().stat(session(), path).flatMap(found -> {
            if (!found.isOk()) {
                return found.isNoNode() ? enter() : look.fail(found);
            }
            if (found.get().getEphemeralOwner() != session().id()) {
                return Mono.error(ZooKeeperFailures.vanished(look.subject()));
            }
            place().entered(session(), new Created(path, found.get().getCzxid()));
            if (!place().isPermit() && !place().node().isPastTheEnd()) {
                look.queue().adopted(place().node(), place());
            }
            look.places().entered(place(), session());
            return look.fromItsPlace();
        });
    }

    private RuntimeException full() {
        return ZooKeeperFailures.queueFull(look.subject(), look.gates().limit(session()));
    }

    private LockQueues queues() {
        return look.places().queues();
    }

    private int places() {
        return look.gates().limit(session()).places();
    }

    private String queue() {
        return place().queue().path();
    }

    private Place place() {
        return look.place();
    }

    private Session session() {
        return look.session();
    }

    private Tree tree() {
        return look.tree();
    }
}
