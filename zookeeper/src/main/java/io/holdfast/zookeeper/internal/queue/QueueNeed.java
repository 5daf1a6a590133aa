package io.holdfast.zookeeper.internal.queue;

/** What the first waiter of a queue needs from the servers. */
public sealed interface QueueNeed {

    /** No claim waits, or it waits for a claim of its own session, or it may take the lock. */
    record Nothing() implements QueueNeed {}

    /** It needs a watch for the end of that node. */
    record Watch(QueueNode node) implements QueueNeed {}

    /** It needs the names in the queue. */
    record Names() implements QueueNeed {}
}
