package io.holdfast.proof.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a leader proposes, a majority acknowledges, and every server applies in its place among the others.
 *
 * @param change of the nodes, the same at each server
 * @param by the server whose client has asked for it; null when nobody has
 * @param done told when that server has applied it, if it still follows the leader that has proposed it
 */
record Transaction(
        long zxid, Consumer<ZooTree> change, @Nullable ZooServer by, Runnable done) {

    /** For a server that begins to follow: who has asked for it is not connected any more. */
    Transaction unanswered() {
        return new Transaction(zxid, change, null, () -> {});
    }
}
