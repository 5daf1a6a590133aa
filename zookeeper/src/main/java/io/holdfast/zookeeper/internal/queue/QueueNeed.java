package io.holdfast.zookeeper.internal.queue;

/** What the first claim that waits in a queue needs to be asked of the servers. */
public sealed interface QueueNeed {

    /** No claim waits, or it waits for one of its own session, or it may take the lock. */
    record Nothing() implements QueueNeed {}

    /** A watch for the end of that node. */
    record Watch(QueueNode node) implements QueueNeed {}

    /** The names in the queue. */
    record Names() implements QueueNeed {}
}
