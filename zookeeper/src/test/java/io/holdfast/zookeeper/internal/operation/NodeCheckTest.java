package io.holdfast.zookeeper.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.SerialExecutor;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import io.holdfast.zookeeper.internal.session.SessionValidity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

class NodeCheckTest {

    @Test
    void partsKeepTheOrderAndStayFarBelowTheLimitOfAPacket() {
        List<String> paths = IntStream.range(0, 2_000)
                .mapToObj(i -> "/holdfast/mutex/" + "%2F".repeat(512) + "/claim_m1_1_%010d".formatted(i))
                .toList();
        List<List<String>> parts = NodeCheck.parts(paths);
        assertThat(parts.stream().flatMap(List::stream)).containsExactlyElementsOf(paths);
        assertThat(parts)
                .allSatisfy(part -> assertThat(
                                part.stream().mapToInt(String::length).sum())
                        .isLessThanOrEqualTo(NodeCheck.MOST_CHARACTERS));
        assertThat(parts).hasSizeLessThan(30);
    }

    @Test
    void pathLongerThanTheLimitIsAPartOfItsOwn() {
        String path = "/" + "x".repeat(NodeCheck.MOST_CHARACTERS);
        assertThat(NodeCheck.parts(List.of("/a", path, "/b")))
                .containsExactly(List.of("/a"), List.of(path), List.of("/b"));
    }

    @Test
    void noPathsAreNoParts() {
        assertThat(NodeCheck.parts(List.of())).isEmpty();
    }

    /** A transaction ends at the first missing node. One after the other for each of them would take longer than a lease. */
    @Test
    void manyMissingNodesAreFoundInFewRoundTrips() throws IOException, InterruptedException {
        StandInHandle handle = new StandInHandle();
        SerialExecutor executor = new SerialExecutor(Schedulers.immediate());
        Session session =
                new Session(handle, 1, "", "/holdfast", event -> {}, SessionValidity.found(executor.now(), 3_000));
        List<String> paths = IntStream.range(0, 1_000).mapToObj(i -> "/" + i).toList();
        List<Boolean> found = new ArrayList<>();
        Disposable unused = new NodeCheck(
                        session, new AsyncZooKeeper(executor, new AccessRights(null)), new Subject("", "check"))
                .areThere(paths)
                .subscribe(found::addAll);
        int rounds = 0;
        for (; found.isEmpty(); rounds++) {
            assertThat(rounds).isLessThan(30);
            handle.answerAll(path -> Code.NONODE);
        }
        assertThat(found).hasSize(1_000).containsOnly(false);
        handle.close();
    }
}
