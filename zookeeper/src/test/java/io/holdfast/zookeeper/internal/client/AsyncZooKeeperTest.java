package io.holdfast.zookeeper.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.zookeeper.Waiting;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.scheduler.Schedulers;

class AsyncZooKeeperTest {

    private static OpResult error(Code code) {
        return new OpResult.ErrorResult(code.intValue());
    }

    private static Reply<Transaction> checked(OpResult first, OpResult second) {
        return Transaction.outcome(Code.OK.intValue(), "/a", 2, List.of(first, second));
    }

    @Test
    void checkOfAMissingNodeStillHasAMajority() {
        Reply<Transaction> reply = checked(error(Code.NONODE), error(Code.RUNTIMEINCONSISTENCY));
        assertThat(reply.isOk()).isTrue();
        assertThat(reply.get().codes()).containsExactly(Code.NONODE, Code.RUNTIMEINCONSISTENCY);
    }

    /** The leader reports this for each operation, not for the whole. A transaction of an ended session proves nothing. */
    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"SESSIONEXPIRED", "SESSIONMOVED"})
    void checkByAnEndedSessionProvesNothing(Code code) {
        assertThat(checked(error(code), error(Code.RUNTIMEINCONSISTENCY)).code())
                .isEqualTo(code);
        assertThat(checked(new OpResult.CheckResult(), error(code)).code()).isEqualTo(code);
    }

    /** The thread that brings an answer may be ZooKeeper's event thread, or an event loop of the caller. */
    @Test
    void longListIsReadOnAThreadOfTheScheduler() {
        AsyncZooKeeper zooKeeper =
                new AsyncZooKeeper(new SerialExecutor(Schedulers.parallel()), new AccessRights(null));
        assertThat(readerOf(zooKeeper, 100)).as("a short list").isEqualTo(Thread.currentThread());
        assertThat(readerOf(zooKeeper, 10_000).getName()).as("a long list").startsWith("parallel-");
    }

    private static Thread readerOf(AsyncZooKeeper zooKeeper, int names) {
        return Waiting.forMono(zooKeeper.read(Collections.nCopies(names, "name"), Thread::currentThread));
    }
}
