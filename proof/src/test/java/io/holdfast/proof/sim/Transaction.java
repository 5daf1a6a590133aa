package io.holdfast.proof.sim;

import java.util.function.Consumer;

/**
 * What a leader proposes, a majority acknowledges, and every server applies in its place among the others.
 *
 * @param change of the nodes, the same at each server
 * @param by the server whose client has asked for it; null when nobody has
 * @param done told when that server has applied it, if it still follows the leader that has proposed it
 */
record Transaction(long zxid, Consumer<ZooTree> change, ZooServer by, Runnable done) {}
