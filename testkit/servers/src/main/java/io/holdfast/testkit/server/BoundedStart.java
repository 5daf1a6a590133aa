package io.holdfast.testkit.server;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Starts a server within a time limit; a server that starts later is closed again. */
final class BoundedStart {

    private BoundedStart() {}

    /**
     * Starts on a new thread.
     *
     * @throws IllegalStateException if the start failed, or took longer
     */
    static RedisChoice.Started within(Duration limit, Supplier<RedisChoice.Started> start) {
        CompletableFuture<RedisChoice.Started> result = new CompletableFuture<>();
        Thread starter = new Thread(() -> run(start, result), "holdfast-redis-start");
        starter.setDaemon(true);
        starter.start();
        try {
            return result.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            boolean isLate = result.cancel(false);
            starter.interrupt();
            if (isLate) {
                throw new IllegalStateException("it took more than " + limit.toSeconds() + " s", late);
            }
            return result.join();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException(cause.getMessage(), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while Redis started", e);
        }
    }

    private static void run(Supplier<RedisChoice.Started> start, CompletableFuture<RedisChoice.Started> result) {
        try {
            RedisChoice.Started started = start.get();
            if (!result.complete(started)) {
                started.process().close();
            }
        } catch (RuntimeException | LinkageError e) {
            result.completeExceptionally(e);
        }
    }
}
