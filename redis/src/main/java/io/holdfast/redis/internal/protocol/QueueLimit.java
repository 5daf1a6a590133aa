package io.holdfast.redis.internal.protocol;

import io.holdfast.LockQueueFullException;

/**
 * The number of waiters that the queue of one lock may have.
 *
 * @param most 0 for no limit
 * @param server for messages
 */
public record QueueLimit(int most, String server) {

    /** Returns the word by which a script knows that a claim wants a place in the queue. */
    String word() {
        return most == 0 ? "queue" : "queue:" + most;
    }

    /** Whether the reply to an attempt means that the queue is full. */
    static boolean isMet(long[] reply) {
        return reply.length == 2 && reply[0] == 4;
    }

    LockQueueFullException refusal(String lockName, long waiting) {
        String message =
                "acquire lock '%s' on Redis at %s was refused: %d wait for it already, and maxWaiters of the RedisLockBackend is %d. Shed load, or raise maxWaiters"
                        .formatted(lockName, server, waiting, most);
        return new LockQueueFullException(lockName, most, message);
    }
}
