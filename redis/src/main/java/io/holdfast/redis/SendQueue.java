package io.holdfast.redis;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Operators;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * Lets one thread at a time give commands to the driver, in the order they came; others leave theirs and go.
 *
 * <p>The driver takes a lock for each command ({@code io.lettuce.core.protocol.SharedLock}), and two threads that meet there would park, on
 * an event loop too. Here they never meet each other; they may meet the event loop that takes the connection up or down.
 */
final class SendQueue {

    private final Queue<Runnable> waiting =
            Queues.<Runnable>unboundedMultiproducer().get();

    /** Left and not yet sent; whoever raises it from zero sends. */
    private final AtomicInteger pending = new AtomicInteger();

    /**
     * Sends, or leaves that to the thread that is at it.
     *
     * @param send sends; may be run after this returns
     */
    void send(Runnable send) {
        waiting.add(send);
        if (pending.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
                run(next);
            }
            seen = pending.addAndGet(-seen);
        } while (seen != 0);
    }

    /** What a subscriber throws must not stop the commands of all others, an Error neither: nobody would ever send again. */
    private static void run(Runnable send) {
        try {
            send.run();
        } catch (RuntimeException | Error thrown) {
            Operators.onErrorDropped(thrown, Context.empty());
        }
    }
}
