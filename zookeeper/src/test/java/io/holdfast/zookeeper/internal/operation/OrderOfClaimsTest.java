package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.zookeeper.internal.claim.ClaimRegistry;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import io.holdfast.zookeeper.internal.claim.SessionReactions;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.queue.LockQueue;
import io.holdfast.zookeeper.internal.queue.NodeNames;
import io.holdfast.zookeeper.internal.queue.QueueNode;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import io.holdfast.zookeeper.internal.signal.ClaimSignals;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Claims that come before a queue exists, or while another client creates it, take their places in the order in which they came. */
class OrderOfClaimsTest {

    private static final String QUEUE = "/holdfast/mutex/lock";
    private static final int PLACES = 10_000;

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final ClaimSignals signals = new ClaimSignals(Schedulers.immediate());
    private final Set<String> failing = new HashSet<>();
    private boolean isFatal;
    private final ACLProvider rights = new ACLProvider() {
        @Override
        public List<ACL> getDefaultAcl() {
            return Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            if (failing.contains(path)) {
                if (isFatal) {
                    throw new NoClassDefFoundError("no rights for " + path);
                }
                throw new IllegalStateException("no rights for " + path);
            }
            return getDefaultAcl();
        }
    };
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(rights));
    private final ClaimRegistry claims = new ClaimRegistry(signals, zooKeeper, executor, LockQueue::create);
    private final QueueAdmission admission = new QueueAdmission(zooKeeper, PLACES);

    private StandInHandle handle;
    private Session session;

    @BeforeEach
    void connect() throws IOException {
        handle = new StandInHandle();
        session = new Session(handle, 1, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
        new SessionReactions(claims, signals, zooKeeper, false, state -> {}).opened(session);
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.close();
    }

    private static LockClaim claim(int number) {
        LockKey key = LockKey.of(LockKind.MUTEX, "lock");
        return LockClaim.first(key, "claim" + number, Duration.ofSeconds(30), io.holdfast.spi.Waiting.QUEUE);
    }

    private void attempt(int number) {
        ClaimState state = claims.open(claim(number));
        AcquireOperation operation = new AcquireOperation(
                state.claim(), state, session, zooKeeper, claims, admission, executor, () -> false);
        executor.run(() -> {
            Disposable unused = operation.answer().subscribe(answer -> claims.settle(state));
        });
    }

    private void attempts(int from, int to) {
        IntStream.range(from, to).forEach(this::attempt);
    }

    private static String prefix(int number) {
        return QUEUE + '/' + QueueNode.prefix(claim(number), 1);
    }

    private static List<String> prefixes(int from, int to) {
        return IntStream.range(from, to).mapToObj(OrderOfClaimsTest::prefix).toList();
    }

    private static List<String> namesUpTo(int number) {
        return IntStream.rangeClosed(0, number)
                .mapToObj(i -> QueueNode.prefix(claim(i), 1) + "%010d".formatted(i))
                .toList();
    }

    /** The only open transaction creates the queue with the node of that claim. */
    private void assertBegins(int number) {
        assertThat(handle.transactions()).singleElement().satisfies(paths -> {
            assertThat(paths).first().isEqualTo(QUEUE);
            assertThat(paths.get(1)).contains('/' + NodeNames.ofClaim(claim(number)) + '_');
        });
    }

    private void answerBeginning(Code... codes) {
        handle.answerTransaction(codes);
    }

    @Test
    void claimsComeBehindTheFirstOneIfAnotherClientWasFaster() {
        attempts(0, 3);
        assertBegins(0);
        assertThat(handle.created()).isEmpty();
        answerBeginning(Code.NODEEXISTS, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertThat(handle.created()).isEqualTo(prefixes(0, 3));
    }

    @Test
    void claimsThatFindNoQueueCreateItInTheirOrder() {
        claims.queues().at(QUEUE).isThere();
        attempts(0, 40);
        int window = handle.created().size();
        assertThat(handle.created()).isEqualTo(prefixes(0, window));
        handle.answerCreationWithoutQueue();
        assertBegins(0);
        attempt(40);
        for (int i = 1; i < window; i++) {
            handle.answerCreationWithoutQueue();
        }
        assertThat(handle.created()).isEmpty();
        assertBegins(0);
        answerBeginning(Code.NODEEXISTS, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertThat(handle.created()).isEqualTo(prefixes(0, window));
        for (int i = 0; i < 41 - window; i++) {
            handle.answerCreation(prefix(i) + "%010d".formatted(i));
            handle.answerList(QUEUE, namesUpTo(i));
        }
        assertThat(handle.created()).isEqualTo(prefixes(41 - window, 41));
    }

    @Test
    void claimsComeBehindOneThatCreatesTheNodesAboveTheQueue() {
        attempts(0, 3);
        answerBeginning(Code.NONODE, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertThat(handle.created()).containsExactly("/holdfast/mutex");
        handle.answerCreation("/holdfast/mutex");
        assertBegins(0);
        answerBeginning(Code.NODEEXISTS, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertThat(handle.created()).isEqualTo(prefixes(0, 3));
    }

    @Test
    void claimEntersWhenTheOneThatCreatedTheQueueHasFailed() {
        attempts(0, 2);
        answerBeginning(Code.NOAUTH, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertBegins(1);
    }

    /** The provider of the user may fail for any node: the lock must not be closed to all other claims of the client. */
    @Test
    void claimEntersWhenTheOneBeforeItFindsNoRightsForTheNodesAboveTheQueue() {
        attempts(0, 2);
        failing.add("/holdfast/mutex");
        answerBeginning(Code.NONODE, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        assertBegins(1);
    }

    @Test
    void claimEntersWhenTheProviderOfTheOneBeforeItFailsWithAnErrorOfTheJvm() {
        attempts(0, 2);
        failing.add("/holdfast/mutex");
        isFatal = true;
        try {
            answerBeginning(Code.NONODE, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
        } catch (LinkageError passedOn) {
            // by the thread's handler
        }
        assertBegins(1);
    }
}
