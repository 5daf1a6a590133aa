package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.LockQueues;
import io.holdfast.zookeeper.internal.claim.SessionReactions;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.connection.SessionEvents;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** What the answers to one claim mean for the others of its session. */
class LockQueuesTest {

    private static final String QUEUE = "/holdfast/mutex/lock";

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final ClaimSignals signals = new ClaimSignals(Schedulers.immediate());
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(null));
    private final ClaimRegistry claims =
            new ClaimRegistry(signals, zooKeeper, new SerialExecutor(Schedulers.parallel()), LockQueue::create);
    private final SessionEvents events = new SessionReactions(claims, signals, zooKeeper, false, state -> {});
    private final List<WatchSignal> told = new ArrayList<>();

    private StandInHandle handle;
    private Session session;

    @BeforeEach
    void connect() throws IOException {
        handle = new StandInHandle();
        session = new Session(handle, 1, "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
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
        ClaimState state =
                claims.open(LockClaim.first(LockKey.of(LockKind.MUTEX, "lock"), id, Duration.ofSeconds(30), waiting));
        state.findQueue(session);
        return state;
    }

    /** It stands behind nodes of others, and watches the last of them. */
    private String waiterBehind(int... others) {
        ClaimState waiter = open("waiter", io.holdfast.spi.Waiting.QUEUE);
        Disposable unused = signals.of("waiter").subscribe(told::add);
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

    private ClaimState look(String id) {
        return look(id, io.holdfast.spi.Waiting.NONE);
    }

    private ClaimState look(String id, io.holdfast.spi.Waiting waiting) {
        ClaimState state = open(id, waiting);
        AcquireOperation look = new AcquireOperation(
                state.claim(),
                state,
                session,
                zooKeeper,
                claims,
                new QueueAdmission(zooKeeper, 100),
                executor,
                () -> false);
        Disposable unused = look.answer().subscribe(answer -> claims.settle(state), failure -> claims.settle(state));
        return state;
    }

    /** The waiter needs a list, and one is under way: that of a claim that does not queue. */
    @Test
    void listOfAClaimThatDoesNotQueueLetsAWaiterPass() {
        String own = waiterBehind(3, 4, 5);
        ClaimState looking = look("impatient");
        assertThat(handle.lists()).isOne();
        events.deleted(session, QUEUE + '/' + other(5));
        handle.answerList(QUEUE, List.of(own)); // the others went at the same time
        assertThat(looking.hasNothingThere()).isTrue();
        assertThat(handle.lists() == 1 || told.contains(new WatchSignal.Changed()))
                .as("it asks again, or is told")
                .isTrue();
    }

    /** An operator who writes data to the queue. What is heard of the node in front then says nothing, as it is not known any more. */
    @Test
    void waiterOfAQueueThatIsForgottenAsksAgain() {
        String unused = waiterBehind(5);
        events.changed(session, QUEUE);
        assertThat(handle.lists()).isOne();
    }

    /** The application has replaced its client, and the one before still answers: no lock is held in a session that is not looked after. */
    @Test
    void nodeOfASessionThatHasEndedIsNotTakenForAPlaceAndIsDeleted() throws IOException, InterruptedException {
        ClaimState state = look("late", io.holdfast.spi.Waiting.QUEUE);
        StandInHandle next = new StandInHandle();
        events.ended(session);
        events.opened(new Session(next, 2, "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000)));

        String node = QUEUE + '/' + QueueNode.prefix(state.claim(), 1) + "0000000009";
        handle.answerCreation(node);
        handle.answerList(QUEUE, List.of());

        assertThat(state.hasNothingThere()).isTrue();
        assertThat(next.deleted()).containsExactly(node);
        next.close();
    }

    /** What an answer to an earlier session lets pass is granted in the present one, and not by what that earlier one has proved. */
    @Test
    void whatIsHeardInASessionThatHasEndedIsActedOnInThePresentOne() throws IOException, InterruptedException {
        Session before = session;
        StandInHandle next = new StandInHandle();
        events.ended(before);
        session = new Session(next, 2, "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
        events.opened(session);
        String unused = waiterBehind(3, 4, 5);

        events.deleted(before, QUEUE + '/' + other(5));

        assertThat(handle.lists()).isZero();
        assertThat(next.lists()).isOne();
        next.close();
    }

    /** More locks at once than are remembered: a node whose queue was forgotten meanwhile would be in no queue that is looked at. */
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
