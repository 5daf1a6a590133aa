package io.holdfast.blocking;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.SignalType;
import reactor.util.context.Context;

/** The end of a Mono, for which one thread waits. */
class Answer<T> extends BaseSubscriber<T> {

    /** Where Reactor looks for a handler of errors that come too late. The thread has thrown another one then, or that one. */
    private static final String DROPPED = "reactor.onErrorDropped.local";

    private final CountDownLatch over = new CountDownLatch(1);
    private final Context context;

    /** Gives back a value that the thread does not want any more. */
    private final Consumer<? super T> discard;

    // Written by the signalling thread.
    private volatile @Nullable T value;
    private volatile @Nullable Throwable error;

    /** Written by the waiting thread. */
    private volatile boolean isAbandoned;

    Answer(Context context, Consumer<? super T> discard) {
        this.context = context.put(DROPPED, (Consumer<Throwable>) Answer::isTooLate);
        this.discard = discard;
    }

    private static void isTooLate(Throwable error) {}

    @Override
    public final Context currentContext() {
        return context;
    }

    @Override
    protected final void hookOnNext(T next) {
        value = next;
        if (isAbandoned) {
            discard.accept(next);
        }
    }

    @Override
    protected final void hookOnError(Throwable failure) {
        error = failure;
    }

    @Override
    protected void hookFinally(SignalType type) {
        over.countDown();
    }

    /**
     * Waits for the end.
     *
     * @return the value; null if there is none, or if the time is over: it is discarded then
     * @throws InterruptedException when the thread is interrupted: the value is discarded, also one that comes later
     */
    final @Nullable T within(long nanos) throws InterruptedException {
        if (await(over, nanos)) {
            return uninterruptibly();
        }
        abandon();
        return null;
    }

    /** Waits for the latch; an interrupt abandons the answer. */
    final boolean await(CountDownLatch latch, long nanos) throws InterruptedException {
        try {
            return latch.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            abandon();
            throw interrupt;
        }
    }

    /** Waits for the end, whatever interrupts the thread: an interrupt stays pending. */
    final @Nullable T uninterruptibly() {
        Throwable failure = awaitEnd();
        if (failure != null) {
            throw Exceptions.propagate(failure); // the errors of locks are unchecked, and not wrapped
        }
        return value;
    }

    /** As {@link #uninterruptibly()}, for an error that is not thrown here. */
    final @Nullable Throwable awaitEnd() {
        HeldByThread held = HeldByThread.current();
        while (true) {
            try {
                over.await();
                held.putBackInterrupt();
                return error;
            } catch (InterruptedException interrupt) {
                held.putInterruptAside();
            }
        }
    }

    private void abandon() {
        isAbandoned = true; // before the value is read: one of the two threads sees what the other has written
        cancel();
        T arrived = value;
        if (arrived != null) {
            discard.accept(arrived);
        }
    }
}
