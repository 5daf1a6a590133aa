package io.holdfast.vertx;

import io.vertx.core.Context;
import io.vertx.core.Future;
import java.lang.ref.WeakReference;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * One call of a user. It waits for a lock. Then either it takes its turn on the context of the caller, or it has ended before: one atomic
 * flag decides. After the turn has begun, nothing is cancelled any more, since a future cannot be cancelled.
 */
final class Call<T> extends BaseSubscriber<T> {

    private final String lock;
    private final Context context;
    private final OpenCalls calls;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final AtomicBoolean isDecided = new AtomicBoolean();

    /** Written by the signals, which come one after another. */
    private @Nullable T value;

    /** Written only by the turn. */
    private volatile boolean isAtWork;

    Call(String lock, Context context, OpenCalls calls) {
        this.lock = lock;
        this.context = context;
        this.calls = calls;
    }

    String lock() {
        return lock;
    }

    Future<T> start(Mono<T> steps, @Nullable Future<?> end) {
        calls.begin(this);
        if (end != null) {
            // The event may outlive the call, and would then keep a lease reachable that its user has dropped.
            WeakReference<Call<T>> waiting = new WeakReference<>(this);
            end.onComplete(unused -> giveUp(waiting.get()));
        }
        steps.subscribe(this);
        return Future.fromCompletionStage(result, context);
    }

    private static void giveUp(@Nullable Call<?> call) {
        if (call != null) {
            call.giveUp();
        }
    }

    void giveUp() {
        giveUp(new CancellationException("the wait for lock '%s' was given up".formatted(lock)));
    }

    /** Ends the wait with this error. Does nothing after the turn has begun. */
    void giveUp(RuntimeException reason) {
        if (isDecided.compareAndSet(false, true)) {
            cancel(); // the engine, or the turn that comes too late, releases a present or later grant
            fail(reason);
        }
    }

    /**
     * Returns the step between the grant and the result.
     *
     * @param body runs on the context, at most once
     * @param otherwise runs instead, for the grant
     */
    Mono<T> turn(Supplier<Future<T>> body, Runnable otherwise) {
        return Mono.create(sink -> {
            try {
                context.runOnContext(unused -> {
                    isAtWork = true; // before the decision, so that work that is about to begin does not count as ended
                    takeTurn(sink, body, () -> {
                        otherwise.run();
                        workIsOver();
                    });
                });
            } catch (RejectedExecutionException closed) { // the event loop has ended, with its Vert.x
                otherwise.run();
                sink.error(closed);
            }
        });
    }

    private void takeTurn(MonoSink<T> sink, Supplier<Future<T>> body, Runnable otherwise) {
        if (!isDecided.compareAndSet(false, true)) {
            otherwise.run();
            return;
        }
        // After a loss, the sink has no subscriber any more. Then only the work's own handlers get its result.
        run(body).onComplete(sink::success, sink::error);
    }

    private Future<T> run(Supplier<Future<T>> body) {
        return begin(body).onComplete(unused -> workIsOver());
    }

    private void workIsOver() {
        isAtWork = false;
        if (result.isDone()) {
            calls.end(this);
        }
    }

    private Future<T> begin(Supplier<Future<T>> body) {
        try {
            Future<T> future = body.get();
            return future == null
                    ? Future.failedFuture(
                            new NullPointerException("the work under lock '%s' returned no future".formatted(lock)))
                    : future;
        } catch (Throwable thrown) {
            return Future.failedFuture(thrown);
        }
    }

    @Override
    protected void hookOnNext(T signalled) {
        value = signalled;
    }

    @Override
    protected void hookOnComplete() {
        isDecided.set(true);
        T done = value;
        result.complete(done);
        end();
    }

    @Override
    protected void hookOnError(Throwable failure) {
        isDecided.set(true); // a turn that has not begun yet would have no lock
        fail(failure);
    }

    private void fail(Throwable failure) {
        result.completeExceptionally(failure);
        end();
    }

    /**
     * Ends the call after its result, so that the handlers of the result run on the context before those of a close. It also waits for work
     * that has lost its lock.
     */
    private void end() {
        if (!isAtWork) {
            calls.end(this);
        }
    }
}
