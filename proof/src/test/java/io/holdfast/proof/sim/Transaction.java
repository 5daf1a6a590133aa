package io.holdfast.proof.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A transaction: the leader proposes it, a majority acknowledges it, and every server applies it in its order.
 *
 * @param change the change of the nodes, which is the same at each server
 * @param by the server whose client sent the request; null without a client
 * @param done runs when that server has applied it, if it still follows the leader that proposed it
 */
record Transaction(
        long zxid, Consumer<ZooTree> change, @Nullable ZooServer by, Runnable done) {

    /** Returns the transaction for a server that begins to follow: the client of the request is not connected any more. */
    Transaction unanswered() {
        return new Transaction(zxid, change, null, () -> {});
    }
}
