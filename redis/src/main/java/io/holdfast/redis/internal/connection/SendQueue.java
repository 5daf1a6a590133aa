package io.holdfast.redis.internal.connection;

import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import reactor.core.publisher.Operators;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * Lets one thread at a time give commands to the driver, in the order they came; others leave theirs and go.
 *
 * <p>That thread is the event loop of the connection, if there is one. What another thread gives to the driver becomes a task of that loop,
 * and what the loop itself gives is written at once, before such tasks: so commands of both would not leave in the order they were given.
 * And the driver takes a lock for each command ({@code io.lettuce.core.protocol.SharedLock}), where two threads that meet would park.
 *
 * <p>The loop does not send at once either, but when it has handled all that it has read: what many answers cause leaves together.
 */
final class SendQueue {

    private final Queue<Runnable> waiting =
            Queues.<Runnable>unboundedMultiproducer().get();

    /** Left and not yet sent; the thread that raises it from zero has it sent. */
    private final AtomicInteger pending = new AtomicInteger();

    private final Predicate<Runnable> elsewhere;
    private final Runnable atEnd;
    private final Runnable drain = this::drain;

    /** Sends on the thread that raised {@link #pending} from zero. */
    SendQueue() {
        this(drain -> false, () -> {});
    }

    /**
     * Sends on one thread.
     *
     * @param elsewhere runs what it is given on that thread, later, even if it is this one; false when this thread is to run it, now
     * @param atEnd run after all that was left, before that thread goes
     */
    SendQueue(Predicate<Runnable> elsewhere, Runnable atEnd) {
        this.elsewhere = elsewhere;
        this.atEnd = atEnd;
    }

    /**
     * Sends, or leaves that to the thread that is at it.
     *
     * @param send sends; may be run after this returns
     */
    void send(Runnable send) {
        waiting.add(send);
        if (pending.getAndIncrement() == 0 && !isSentElsewhere()) {
            drain();
        }
    }

    private boolean isSentElsewhere() {
        try {
            return elsewhere.test(drain);
        } catch (RejectedExecutionException ended) {
            return false; // the driver refuses each command from now on
        }
    }

    private void drain() {
        int seen = 1;
        do {
            for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
                run(next);
            }
            run(atEnd);
            seen = pending.addAndGet(-seen);
        } while (seen != 0);
    }

    /** What a subscriber throws must not stop the commands of all others, an Error neither: no command would ever be sent again. */
    private static void run(Runnable send) {
        try {
            send.run();
        } catch (RuntimeException | Error thrown) {
            Operators.onErrorDropped(thrown, Context.empty());
        }
    }
}
