package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Deletions of different locks that are asked for at the same time. */
class DeletionsTest {

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(null));
    private final List<String> answers = new ArrayList<>();

    private StandInHandle handle;
    private Session session;

    @BeforeEach
    void connect() throws IOException {
        handle = new StandInHandle();
        session = session(handle, 1);
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.close();
    }

    private Session session(StandInHandle of, long id) {
        return new Session(of, id, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
    }

    private void delete(String path) {
        delete(session, path);
    }

    private void delete(Session in, String path) {
        Disposable unused =
                zooKeeper.delete(in, path).subscribe(deleted -> answers.add(deleted.path() + ' ' + deleted.code()));
    }

    @Test
    void fewDeletionsAreSentAtOnceAndTheOthersShareATransaction() {
        List.of("/a", "/b", "/c", "/d", "/e").forEach(this::delete);
        assertThat(handle.deleted()).containsExactly("/a", "/b");
        assertThat(handle.transactions()).isEmpty();
        handle.answerDeletion();
        assertThat(handle.transactions()).containsExactly(List.of("/c", "/d", "/e"));
        handle.answerTransaction(Code.OK, Code.OK, Code.OK);
        assertThat(answers).containsExactly("/a OK", "/c OK", "/d OK", "/e OK");
    }

    @Test
    void deletionThatIsRefusedFailsAloneAndTheOthersKeepTheirOrder() {
        List.of("/a", "/b", "/c", "/d", "/e").forEach(this::delete);
        handle.answerDeletion();
        handle.answerTransaction(Code.OK, Code.NONODE, Code.RUNTIMEINCONSISTENCY);
        assertThat(answers).containsExactly("/a OK", "/d NONODE");
        assertThat(handle.deleted()).containsExactly("/a", "/b", "/c", "/e");
        for (int open = 0; open < 3; open++) {
            handle.answerDeletion();
        }
        assertThat(answers).containsExactly("/a OK", "/d NONODE", "/b OK", "/c OK", "/e OK");
    }

    /** The nodes of an ended session, most of which the server has deleted. */
    @Test
    void releaseDoesNotWaitForTheRefusalOfEachMissingNode() {
        for (int i = 0; i < 200; i++) {
            delete("/leftover" + i);
        }
        delete("/release");
        int rounds = 0;
        while (!answers.contains("/release OK")) {
            assertThat(rounds++).isLessThan(10);
            handle.answerAll(path -> path.equals("/release") ? Code.OK : Code.NONODE);
        }
        assertThat(answers).hasSize(201).doesNotHaveDuplicates();
    }

    @Test
    void outcomeOfALostTransactionIsUnknownForEachOfItsDeletions() {
        List.of("/a", "/b", "/c", "/d").forEach(this::delete);
        handle.answerDeletion();
        handle.answerTransaction(Code.CONNECTIONLOSS);
        assertThat(answers).containsExactly("/a OK", "/c CONNECTIONLOSS", "/d CONNECTIONLOSS");
    }

    @Test
    void deletionsOfTwoSessionsDoNotShareATransaction() throws IOException, InterruptedException {
        StandInHandle next = new StandInHandle();
        List.of("/a", "/b", "/c").forEach(this::delete);
        delete(session(next, 2), "/d");
        handle.answerDeletion();
        handle.answerDeletion();
        assertThat(handle.deleted()).containsExactly("/a", "/b", "/c");
        assertThat(next.deleted()).containsExactly("/d");
        next.close();
    }
}
