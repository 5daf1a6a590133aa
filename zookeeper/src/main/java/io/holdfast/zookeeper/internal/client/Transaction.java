package io.holdfast.zookeeper.internal.client;

import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The outcome of a transaction that a majority has seen: all of its operations happened, or none.
 *
 * @param codes a code for each operation; {@code RUNTIMEINCONSISTENCY} for those after the first that is refused
 * @param written the node that was written last; null if none was written
 */
record Transaction(List<Code> codes, @Nullable Stat written) {

    /** Returns the index of the refused operation; -1 if all of them happened. */
    int refused() {
        for (int i = 0; i < codes.size(); i++) {
            if (codes.get(i) != Code.OK) {
                return i;
            }
        }
        return -1;
    }

    /** Sends the operations together. */
    static Mono<Reply<Transaction>> of(SerialExecutor executor, Session session, List<Op> operations) {
        String first = operations.get(0).getPath();
        return new Call<>(
                executor,
                session,
                Call.AnsweredBy.QUORUM,
                first,
                (handle, call) -> handle.multi(
                        operations,
                        (code, path, context, results) -> call.answered(
                                outcome(code, first, operations.size(), results == null ? List.of() : results)),
                        null));
    }

    /** The leader checks the session with each of the operations, and reports there if the session is over. Then nothing is proved. */
    static Reply<Transaction> outcome(int code, String path, int operations, List<OpResult> results) {
        if (results.size() != operations) {
            return Reply.of(code, path, null);
        }
        List<Code> codes = new ArrayList<>(operations);
        Stat written = null;
        for (OpResult result : results) {
            Reply<Transaction> one = Reply.of(
                    result instanceof OpResult.ErrorResult error ? error.getErr() : Code.OK.intValue(), path, null);
            if (one.code() == Code.SESSIONEXPIRED || one.code() == Code.SESSIONMOVED) {
                return one;
            }
            codes.add(one.code());
            written = result instanceof OpResult.SetDataResult set ? set.getStat() : written;
        }
        return new Reply<>(Code.OK, path, new Transaction(codes, written));
    }
}
