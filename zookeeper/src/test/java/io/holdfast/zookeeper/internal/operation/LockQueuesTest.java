package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.LockQueues;
import io.holdfast.zookeeper.internal.claim.SessionReactions;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.connection.SessionEvents;
import io.holdfast.zookeeper.internal.queue.CountingQueue;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** How the answers for one claim affect the other claims of its session. */
class LockQueuesTest {

    private static final String QUEUE = "/holdfast/mutex/lock";

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final ClaimSignals signals = new ClaimSignals(Schedulers.immediate());
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(null));
    private final ClaimRegistry claims =
            new ClaimRegistry(signals, zooKeeper, new SerialExecutor(Schedulers.parallel()), CountingQueue::new);
    private final SessionEvents events = new SessionReactions(claims, signals, zooKeeper, false, state -> {});
    private final List<WatchSignal> signalled = new ArrayList<>();

    private StandInHandle handle;
    private Session session;

    @BeforeEach
    void connect() throws IOException {
        handle = new StandInHandle();
        session = new Session(handle, 1, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
        events.opened(session);
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.close();
    }

    private static String other(int number) {
        return "x%d_m1_2_%010d".formatted(number, number);
    }

    private ClaimState open(String id, io.holdfast.spi.Waiting waiting) {
        return open(LockKey.of(LockKind.MUTEX, "lock"), id, waiting);
    }

    private ClaimState open(LockKey key, String id, io.holdfast.spi.Waiting waiting) {
        ClaimState state = claims.open(LockClaim.first(key, id, Duration.ofSeconds(30), waiting));
        state.findQueue(session);
        return state;
    }

    /** Adds a waiter behind nodes of other clients. It watches the last of them. */
    private String waiterBehind(int... others) {
        ClaimState waiter = open("waiter", io.holdfast.spi.Waiting.QUEUE);
        Disposable unused = signals.of("waiter").subscribe(signalled::add);
        String own = QueueNode.prefix(waiter.claim(), 1) + "0000000009";
        waiter.entered(session, new AsyncZooKeeper.Created(QUEUE + '/' + own, 9));
        LockQueue<ClaimState> queue = claims.queues().at(QUEUE);
        queue.entered(waiter.node(), waiter);
        List<QueueNode> nodes = new ArrayList<>(List.of(waiter.node()));
        for (int number : others) {
            nodes.add(QueueNode.parse(other(number)));
        }
        assertThat(queue.namesRead(queue.namesAsked(), 9, nodes)).isEmpty();
        claims.settle(waiter);
        return own;
    }

    private ClaimState attempt(String id) {
        return attempt(id, io.holdfast.spi.Waiting.NONE);
    }

    private ClaimState attempt(String id, io.holdfast.spi.Waiting waiting) {
        return attempt(open(id, waiting));
    }

    private ClaimState attempt(ClaimState state) {
        AcquireOperation operation = new AcquireOperation(
                state.claim(),
                state,
                session,
                zooKeeper,
                claims,
                new QueueAdmission(zooKeeper, 100),
                executor,
                () -> false);
        Disposable unused =
                operation.answer().subscribe(answer -> claims.settle(state), failure -> claims.settle(state));
        return state;
    }

    /** The waiter needs a list. One is under way, for a claim that does not queue. */
    @Test
    void listOfAClaimThatDoesNotQueueLetsAWaiterPass() {
        String own = waiterBehind(3, 4, 5);
        ClaimState impatient = attempt("impatient");
        assertThat(handle.lists()).isOne();
        events.deleted(session, QUEUE + '/' + other(5));
        handle.answerList(QUEUE, List.of(own)); // the other nodes were deleted at the same time
        assertThat(impatient.hasNothingThere()).isTrue();
        assertThat(handle.lists() == 1 || signalled.contains(new WatchSignal.Changed()))
                .as("the waiter requests a list or gets a signal")
                .isTrue();
    }

    /** An operator writes data to the queue. An event of the node in front then has no effect, as that node is not known any more. */
    @Test
    void waiterOfAForgottenQueueSendsItsRequestAgain() {
        String unused = waiterBehind(5);
        events.changed(session, QUEUE);
        assertThat(handle.lists()).isOne();
    }

    /**
     * The application has replaced its client, but the former client still answers. No lock may be held in its session, which the back end
     * does not watch.
     */
    @Test
    void nodeOfAnEndedSessionIsNoPlaceAndIsDeleted() throws IOException, InterruptedException {
        ClaimState state = attempt("late", io.holdfast.spi.Waiting.QUEUE);
        handle.answerTransaction(Code.NODEEXISTS, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        StandInHandle next = new StandInHandle();
        events.ended(session);
        events.opened(new Session(next, 2, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000)));

        String node = QUEUE + '/' + QueueNode.prefix(state.claim(), 1) + "0000000009";
        handle.answerCreation(node);
        handle.answerList(QUEUE, List.of());

        assertThat(state.hasNothingThere()).isTrue();
        assertThat(next.deleted()).containsExactly(node);
        next.close();
    }

    /**
     * An answer to an earlier session makes a claim first. The grant comes in the present session, and does not use the proof of the
     * earlier one.
     */
    @Test
    void answerToAnEndedSessionIsAppliedInThePresentOne() throws IOException, InterruptedException {
        Session before = session;
        StandInHandle next = new StandInHandle();
        events.ended(before);
        session = new Session(next, 2, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
        events.opened(session);
        String unused = waiterBehind(3, 4, 5);

        events.deleted(before, QUEUE + '/' + other(5));

        assertThat(handle.lists()).isZero();
        assertThat(next.lists()).isOne();
        next.close();
    }

    /** Each of them would need a list of all of them: after a short interruption, the lists would delay renewals for too long. */
    @Test
    void waitersThatAttemptAgainAfterAReconnectShareOneList() {
        List<ClaimState> readers = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ClaimState reader = standing("reader" + i, i + 1);
            names.add(reader.node().name());
            Disposable unused = signals.of("reader" + i).subscribe(signalled::add);
            readers.add(reader);
        }
        for (int interruption = 0; interruption < 2; interruption++) {
            events.disconnected(session);
            events.reconnected(session);
            readers.forEach(reader -> assertThat(attempt(reader)).isSameAs(reader));
            assertThat(handle.lists()).isOne();
            signalled.clear();
            handle.answerList(readers.get(0).queue().path(), names);
            assertThat(signalled)
                    .as("each reader attempts again, to prove its session")
                    .hasSize(3);
        }
    }

    /** The other claim holds when its attempt ends. */
    @Test
    void waiterThatReliesOnTheListOfAnotherClaimIsGrantedTheLock() {
        prove();
        ClaimState first = standing("first", 1);
        ClaimState second = standing("second", 2);
        assertThat(attempt(first)).isSameAs(first);
        assertThat(attempt(second)).isSameAs(second);
        assertThat(handle.lists()).isOne();
        handle.answerList(
                first.queue().path(), List.of(first.node().name(), second.node().name()));
        assertThat(first.isHeld()).isTrue();
        assertThat(second.isHeld()).isTrue();
        assertThat(handle.lists()).isZero();
    }

    /** Each of them was told to attempt, since the grant of an earlier attempt would be short. */
    @Test
    void readersThatAttemptBehindAWriterThatIsGoneAreCollectedForTheListOnly() {
        List<ClaimState> readers = new ArrayList<>();
        for (int number = 1; number <= 100; number++) {
            ClaimState reader = standing("reader" + number, number);
            reader.asked(1, executor.now() - Duration.ofMinutes(1).toNanos());
            readers.add(reader);
        }
        CountingQueue<ClaimState> queue = (CountingQueue<ClaimState>)
                claims.queues().at(readers.get(0).queue().path());
        List<QueueNode> nodes = readers.stream().map(ClaimState::node).toList();
        assertThat(queue.namesRead(queue.namesAsked(), 100, nodes)).isEmpty();
        prove();
        for (ClaimState reader : readers) {
            reader.asked(2, executor.now());
            assertThat(attempt(reader).isHeld()).isTrue();
        }
        assertThat(readers).allMatch(ClaimState::isHeld);
        assertThat(queue.collected()).isLessThanOrEqualTo(2);
    }

    /** A claim of the session waits behind them all the time, and one of them once relied on an answer. */
    @Test
    void readersThatAttemptInFrontOfAWaitingWriterAreCollectedOnce() {
        List<ClaimState> readers = new ArrayList<>();
        for (int number = 1; number <= 100; number++) {
            ClaimState reader = standing("reader" + number, number);
            reader.asked(1, executor.now() - Duration.ofMinutes(1).toNanos());
            readers.add(reader);
        }
        ClaimState writer = standing(LockKey.of(LockKind.WRITE, "lock"), "writer", 101);
        CountingQueue<ClaimState> queue =
                (CountingQueue<ClaimState>) claims.queues().at(writer.queue().path());
        List<QueueNode> nodes = new ArrayList<>(List.of(writer.node()));
        readers.forEach(reader -> nodes.add(reader.node()));
        assertThat(queue.namesRead(queue.namesAsked(), 101, nodes)).isEmpty();
        queue.await();
        prove();
        for (ClaimState reader : readers) {
            reader.asked(2, executor.now());
            assertThat(attempt(reader).isHeld()).isTrue();
        }
        assertThat(writer.isHeld()).isFalse();
        assertThat(queue.collected()).isLessThanOrEqualTo(2);
    }

    private void prove() {
        for (int proof = 0; proof < 2; proof++) {
            Disposable unused = zooKeeper.check(session, List.of(QUEUE)).subscribe();
            handle.answerTransaction(Code.OK);
        }
    }

    /** Adds a reader that waits for a node that is not known any more. */
    private ClaimState standing(String id, int number) {
        return standing(LockKey.of(LockKind.READ, "lock"), id, number);
    }

    private ClaimState standing(LockKey key, String id, int number) {
        ClaimState waiter = open(key, id, io.holdfast.spi.Waiting.QUEUE);
        String name = QueueNode.prefix(waiter.claim(), 1) + "%010d".formatted(number);
        waiter.asked(1, executor.now());
        waiter.entered(session, new AsyncZooKeeper.Created(waiter.queue().of(name), number));
        waiter.stands();
        claims.queues().at(waiter.queue().path()).entered(waiter.node(), waiter);
        return waiter;
    }

    private static LockClaim claimOfAnotherClient(LockKey key) {
        return LockClaim.first(key, "other", Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }

    /** Returns the first node of the queue. */
    private static QueueNode inFront(LockKey key) {
        return QueueNode.parse(QueueNode.prefix(claimOfAnotherClient(key), 2) + "0000000000");
    }

    /** The attempt of the second waiter ends while the first one reads the names. The holder has left before. */
    @Test
    void waitersForPermitsShareTheListOfTheFirstOne() {
        prove();
        LockKey key = new LockKey(LockKind.SEMAPHORE, "lock", 2);
        ClaimState first = standing(key, "first", 2);
        ClaimState second = standing(key, "second", 3);
        LockQueue<ClaimState> queue = claims.queues().at(first.queue().path());
        QueueNode holder = inFront(key);
        QueueNode otherHolder = QueueNode.parse(holder.name().replace("0000000000", "0000000001"));
        assertThat(queue.namesRead(queue.namesAsked(), 3, List.of(holder, otherHolder, first.node(), second.node())))
                .isEmpty();
        assertThat(attempt(first).isHeld()).isFalse();
        assertThat(handle.lists()).isOne();
        claims.settle(second);
        assertThat(handle.lists()).isOne();
        handle.answerList(
                first.queue().path(), List.of(first.node().name(), second.node().name()));
        assertThat(first.isHeld()).isTrue();
        assertThat(second.isHeld()).isTrue();
    }

    /** The list was sent before the watch, and shows first that the writer is gone. */
    @Test
    void waiterWhoseBlockerIsMissingInTheListOfAnotherClaimIsGrantedTheLock() {
        prove();
        ClaimState first = standing("first", 1);
        LockQueue<ClaimState> queue = claims.queues().at(first.queue().path());
        QueueNode writer = inFront(LockKey.of(LockKind.WRITE, "lock"));
        assertThat(queue.namesRead(queue.namesAsked(), 1, List.of(writer, first.node())))
                .isEmpty();
        ClaimState second = standing("second", 3);
        assertThat(attempt(second).isHeld()).isFalse();
        claims.settle(first);
        handle.answerList(
                first.queue().path(), List.of(first.node().name(), second.node().name()));
        handle.answerDataOfNoNode(first.queue().of(writer.name()));
        assertThat(second.isHeld()).isTrue();
        assertThat(first.isHeld()).isTrue();
    }

    /** The writer has downgraded. Only the watch of the first waiter shows it, and the second one has sent nothing since. */
    @Test
    void readersBehindAWriterThatReadsHoldTogether() {
        QueueNode writer = inFrontAsReader();
        ClaimState first = standing("first", 1);
        ClaimState second = standing("second", 2);
        LockQueue<ClaimState> queue = claims.queues().at(first.queue().path());
        assertThat(queue.namesRead(queue.namesAsked(), 2, List.of(writer, first.node(), second.node())))
                .isEmpty();
        prove();
        assertThat(attempt(first).isHeld()).isFalse();
        claims.settle(second);
        handle.answerDataAsWritten(first.queue().of(writer.name()));
        assertThat(first.isHeld()).isTrue();
        assertThat(second.isHeld()).isTrue();
    }

    /** The client has forgotten that the writer reads. A request of a holder ends while the first waiter reads that again. */
    @Test
    void readersBehindAWriterThatReadsHoldTogetherAlthoughAHolderHasSettledBefore() {
        QueueNode writer = inFrontAsReader();
        prove();
        ClaimState holder = standing("holder", 1);
        LockQueue<ClaimState> queue = claims.queues().at(holder.queue().path());
        assertThat(queue.namesRead(queue.namesAsked(), 1, List.of(holder.node())))
                .isEmpty();
        assertThat(attempt(holder).isHeld()).isTrue();
        ClaimState first = standing("first", 2);
        ClaimState second = standing("second", 3);
        assertThat(queue.namesRead(queue.namesAsked(), 3, List.of(writer, holder.node(), first.node(), second.node())))
                .isEmpty();
        assertThat(attempt(first).isHeld()).isFalse();
        assertThat(attempt(second).isHeld()).isFalse();
        claims.settle(holder);
        handle.answerDataAsWritten(first.queue().of(writer.name()));
        assertThat(first.isHeld()).isTrue();
        assertThat(second.isHeld()).isTrue();
    }

    /** Returns the first node of the queue: that of a writer which has become a reader. */
    private QueueNode inFrontAsReader() {
        LockKey key = LockKey.of(LockKind.WRITE, "lock");
        QueueNode writer = inFront(key);
        Disposable unused = zooKeeper
                .markReader(session, "/holdfast/rw/lock/" + writer.name(), claimOfAnotherClient(key))
                .subscribe();
        return writer;
    }

    /** Otherwise that list would only come with the release of the first claim, and the hand-off would wait for it. */
    @Test
    void waiterWithoutAListGetsOneWhenTheClaimInFrontHolds() {
        LockKey key = LockKey.of(LockKind.MUTEX, "lock");
        ClaimState first = standing(key, "first", 1);
        LockQueue<ClaimState> queue = claims.queues().at(QUEUE);
        assertThat(queue.namesRead(queue.namesAsked(), 1, List.of(first.node())))
                .isEmpty();
        ClaimState second = standing(key, "second", 3); // the node between them may be one of another client
        assertThat(attempt(second).isHeld()).isFalse();
        assertThat(handle.lists()).isZero();
        prove();
        assertThat(attempt(first).isHeld()).isTrue();
        assertThat(handle.lists()).isOne();
    }

    /** The driver had queued the request, so the node may exist although the call has failed. */
    @Test
    void nodeOfACreationThatEndedWithAnErrorOfTheJvmIsDeleted() {
        claims.queues().at(QUEUE).isThere();
        handle.breakAfterSending();
        ClaimState state = attempt("broken", io.holdfast.spi.Waiting.QUEUE);
        String name = QueueNode.prefix(state.claim(), 1) + "0000000007";
        handle.answerCreation(QUEUE + '/' + name);
        handle.answerList(QUEUE, List.of(name));
        assertThat(state.isDoubtful()).isTrue();
        Disposable unused =
                new ReleaseOperation(state, session, zooKeeper, claims).answer().subscribe();
        handle.answerList(QUEUE, List.of(name));
        assertThat(handle.deleted()).containsExactly(QUEUE + '/' + name);
    }

    /** Before the transaction that proves the session, a claim of another client may list the node, and then wait for it to hold. */
    @Test
    void permitOfASessionThatNeededProofIsMarked() {
        ClaimState holder = open(new LockKey(LockKind.SEMAPHORE, "lock", 2), "holder", io.holdfast.spi.Waiting.QUEUE);
        claims.queues().at(holder.queue().path()).isThere();
        holder.asked(1, executor.now());
        assertThat(attempt(holder).isHeld()).isFalse();
        String name = QueueNode.prefix(holder.claim(), 1) + "0000000000";
        handle.answerCreation(holder.queue().of(name));
        handle.answerList(holder.queue().path(), List.of(name));
        assertThat(holder.isHeld()).as("without a proof").isFalse();
        handle.answerTransaction(Code.OK);
        assertThat(holder.isHeld()).isTrue();
        assertThat(handle.written()).containsExactly(holder.queue().of(name));
    }

    /** There are more locks than are remembered. If the queue of a node were forgotten meanwhile, that node would be in no queue. */
    @Test
    void queueIsNotForgottenWhileACreationIsUnderWay() {
        LockQueues queues = claims.queues();
        LockQueue<ClaimState> queue = queues.at(QUEUE);
        queue.entering();
        for (int i = 0; i <= LockQueues.MOST_IDLE; i++) {
            LockQueue<ClaimState> unused = queues.at("/holdfast/mutex/other" + i);
        }
        assertThat(queues.at(QUEUE)).isSameAs(queue);
        queue.enteringAnswered();
        for (int i = 0; i <= LockQueues.MOST_IDLE; i++) {
            LockQueue<ClaimState> unused = queues.at("/holdfast/mutex/other" + i);
        }
        assertThat(queues.at(QUEUE)).isNotSameAs(queue);
    }
}
