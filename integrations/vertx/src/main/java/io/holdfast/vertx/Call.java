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
 * One call of a user. It waits for a lock, and then either it has its turn on the context of the caller, or it has ended before: one atomic
 * flag decides. After the turn has begun nothing is cancelled any more, since a future cannot be.
 */
final class Call<T> extends BaseSubscriber<T> {

    private final String lock;
    private final Context context;
    private final OpenCalls calls;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final AtomicBoolean isDecided = new AtomicBoolean();

    /** Written by the signals, which come one after the other. */
    private @Nullable T value;

    /** Written by the turn alone. */
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
            // The event may outlive the call, which would keep a lease in reach that its user has dropped.
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

    /** Does nothing after the turn has begun. */
    void giveUp(RuntimeException reason) {
        if (isDecided.compareAndSet(false, true)) {
            cancel(); // what was or will be granted is released by the engine, or by the turn that comes too late
            fail(reason);
        }
    }

    /**
     * The step between the grant and the result.
     *
     * @param body runs on the context, once at most
     * @param otherwise what happens to the grant instead
     */
    Mono<T> turn(Supplier<Future<T>> body, Runnable otherwise) {
        return Mono.create(sink -> {
            try {
                context.runOnContext(unused -> {
                    isAtWork = true; // before it is decided, so that nobody takes work that is about to begin for ended
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
        // After a loss nobody listens any more, and the sink tells nobody: what the work comes to is for its own
        // handlers.
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
                            new NullPointerException("the work under lock '%s' gave no future".formatted(lock)))
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
        isDecided.set(true); // a turn that has not begun would be one without a lock
        fail(failure);
    }

    private void fail(Throwable failure) {
        result.completeExceptionally(failure);
        end();
    }

    /** After the result, whose handlers thus have their turn on the context before those of a closing; and after work that has lost its lock. */
    private void end() {
        if (!isAtWork) {
            calls.end(this);
        }
    }
}
