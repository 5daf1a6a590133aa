package io.holdfast.blocking;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** What one lock and several locks have in common: the thread of the caller waits for a lease, and does the work. */
abstract class CallerSide<L> {

    interface Task<L, T extends @Nullable Object, E extends Exception> {

        T run(L lease) throws E;
    }

    private final List<Permits> permits;
    private final Function<L, Mono<Void>> released;
    private final BiFunction<L, Context, Context> entered;

    /** {@code entered}: adds a lease to a Reactor Context. */
    CallerSide(List<Permits> permits, Function<L, Mono<Void>> released, BiFunction<L, Context, Context> entered) {
        this.permits = permits;
        this.released = released;
        this.entered = entered;
    }

    final List<Permits> permits() {
        return permits;
    }

    final Holding<L> hold(L lease) {
        return new Holding<>(lease, HeldByThread.current(), entered);
    }

    /** Subscribes to an acquisition that may wait for a release. */
    final Answer<L> acquiring(Mono<L> acquisition) {
        HeldByThread.current().refuseWaitForItself(permits);
        return trying(acquisition);
    }

    /** Subscribes to one attempt. */
    final Answer<L> trying(Mono<L> attempt) {
        MustNotBlock.here(this);
        // A lease that comes after the caller has given up is released. The caller does not wait for that release.
        return attempt.subscribeWith(new Answer<>(
                HeldByThread.current().context(), lease -> released.apply(lease).subscribe(none -> {}, failure -> {})));
    }

    @SuppressWarnings({
        "NullAway", // a result may be null if its type allows that
        "unchecked" // the checked exceptions of the end are those of the task, and an interrupt
    })
    final <T extends @Nullable Object, E extends Exception> T underLock(
            Function<Function<L, Mono<Void>>, Mono<Void>> withLock, Task<L, T, E> task) throws E, InterruptedException {
        MustNotBlock.here(this);
        ifInterrupted();
        HeldByThread held = HeldByThread.current();
        held.refuseWaitForItself(permits);
        Work<L> work = new Work<>(held, permits, entered);
        withLock.apply(work::under).subscribe(work);
        L lease = work.granted();
        T result = null;
        Throwable failure = null;
        boolean isInterruptOurs = false;
        if (lease != null && held.begin(work)) {
            try {
                result = task.run(lease);
            } catch (Throwable thrown) {
                failure = thrown;
            } finally {
                isInterruptOurs = held.end(work);
            }
            work.end(failure);
        }
        Throwable error = work.awaitEnd();
        if (error == null) {
            return result;
        }
        if (failure != null && failure != error) {
            error.addSuppressed(failure);
            if (failure instanceof InterruptedException && !isInterruptOurs) {
                Thread.currentThread().interrupt(); // otherwise the interrupt of other code would be hidden by the loss
            }
        }
        if (error instanceof Exception exception) {
            throw (E) exception;
        }
        throw (Error) error;
    }

    /** Nothing is sent for a thread that is interrupted already. */
    static void ifInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
