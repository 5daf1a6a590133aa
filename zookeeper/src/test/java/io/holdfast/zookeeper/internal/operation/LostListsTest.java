package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.Reply;
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

/** A list that is too long for the driver costs the connection. So the back end checks the length before it sends a lost list again. */
class LostListsTest {

    private static final String QUEUE = "/holdfast/mutex/lock";
    private static final int FAR_TOO_MANY = 100_000;

    private final SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
    private final AsyncZooKeeper zooKeeper = new AsyncZooKeeper(executor, new AccessRights(null));
    private final List<Code> answers = new ArrayList<>();

    private StandInHandle handle;
    private Session session;

    @BeforeEach
    void connect() throws IOException {
        handle = new StandInHandle();
        session = new Session(handle, 1, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.close();
    }

    private void list() {
        Disposable unused = zooKeeper.list(session, QUEUE).map(Reply::code).subscribe(answers::add);
    }

    @Test
    void lostListIsSentAgainWhenItsLengthFits() {
        list();
        handle.lose(QUEUE);
        list();
        assertThat(handle.lists()).isZero();
        handle.answerExistence(QUEUE, 1);
        handle.answerList(QUEUE, List.of("one"));
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS, Code.OK);
    }

    @Test
    void listThatIsTooLongIsNotSentAgain() {
        list();
        handle.lose(QUEUE);
        list();
        handle.answerExistence(QUEUE, FAR_TOO_MANY);
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS, Code.MARSHALLINGERROR);
        assertThat(handle.lists()).isZero();
    }

    /** While the driver reports that the connection is lost, it still accepts requests, and loses them, too. */
    @Test
    void listIsNotSentIfTheRequestForItsLengthWasLostToo() {
        list();
        handle.lose(QUEUE);
        list();
        handle.lose(QUEUE);
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        assertThat(handle.lists()).isZero();
        list();
        assertThat(handle.lists()).isZero();
    }
}
