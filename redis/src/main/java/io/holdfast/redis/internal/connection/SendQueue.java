package io.holdfast.redis.internal.connection;

import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import reactor.core.publisher.Operators;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * Lets one thread at a time give commands to the driver, in the order of the calls; other threads add theirs to the
 * queue and return.
 *
 * <p>That thread is the event loop of the connection, if there is one. A command that another thread gives to the
 * driver becomes a task of that loop. The loop writes its own commands at once, before such tasks. So commands of both
 * would not leave in the order of the calls. Also, the driver takes a lock for each command ({@code
 * io.lettuce.core.protocol.SharedLock}), where two threads that meet would park.
 *
 * <p>The loop sends only when it has handled all that it has read, so commands that many answers cause leave together.
 */
final class SendQueue {

    private final Queue<Runnable> waiting =
            Queues.<Runnable>unboundedMultiproducer().get();

    /** The number of commands that are queued and not yet sent. The thread that raises it from zero has them sent. */
    private final AtomicInteger pending = new AtomicInteger();

    private final Predicate<Runnable> elsewhere;
    private final Runnable atEnd;
    private final Runnable drain = this::drain;

    /**
     * Sends on one thread.
     *
     * @param elsewhere runs a task on that thread, later, even if that is the current thread; returns false if the
     *     current thread must run the task now
     * @param atEnd run after all queued commands, before that thread leaves the queue
     */
    SendQueue(Predicate<Runnable> elsewhere, Runnable atEnd) {
        this.elsewhere = elsewhere;
        this.atEnd = atEnd;
    }

    /**
     * Sends, or leaves that to the thread that is sending.
     *
     * @param send sends; may be run after this method returns
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

    /**
     * Keeps an exception, also an Error, of one subscriber from stopping the commands of all others: no command would
     * ever be sent again.
     */
    private static void run(Runnable send) {
        try {
            send.run();
        } catch (RuntimeException | Error thrown) {
            Operators.onErrorDropped(thrown, Context.empty());
        }
    }
}
