package io.holdfast.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

class ContextSchedulerTest {

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final Scheduler scheduler = ContextScheduler.of(context);

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void tasksRunOnTheContextInOrder() {
        Queue<Integer> ran = new ConcurrentLinkedQueue<>();
        CompletableFuture<Context> where = new CompletableFuture<>();
        IntStream.range(0, 1_000).forEach(i -> scheduler.schedule(() -> ran.add(i)));
        scheduler.schedule(() -> where.complete(Vertx.currentContext()));
        assertThat(where).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(context);
        assertThat(ran)
                .containsExactlyElementsOf(IntStream.range(0, 1_000).boxed().toList());
    }

    @Test
    void fluxIsPublishedOnTheContext() {
        CompletableFuture<List<Context>> where = Flux.range(0, 100)
                .publishOn(scheduler)
                .map(i -> Vertx.currentContext())
                .distinct()
                .collectList()
                .toFuture();
        assertThat(where).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(List.of(context));
    }

    @Test
    void disposedTaskNeverRuns() {
        Queue<String> ran = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        context.runOnContext(unused -> {
            Disposable task = scheduler.schedule(() -> ran.add("task"));
            Scheduler.Worker worker = scheduler.createWorker();
            Disposable ofWorker = worker.schedule(() -> ran.add("of the worker"));
            task.dispose();
            worker.dispose();
            assertThat(ofWorker.isDisposed()).isFalse();
            assertThatThrownBy(() -> worker.schedule(() -> {})).isInstanceOf(RejectedExecutionException.class);
            scheduler.schedule(() -> end.complete(null));
        });
        assertThat(end).succeedsWithin(10, TimeUnit.SECONDS);
        assertThat(ran).isEmpty();
    }

    @Test
    void delayedTasksAreRejected() {
        assertThatThrownBy(() -> scheduler.schedule(() -> {}, 1, TimeUnit.SECONDS))
                .isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void disposingLeavesTheContextAlone() {
        scheduler.dispose();
        CompletableFuture<Boolean> ran = new CompletableFuture<>();
        scheduler.schedule(() -> ran.complete(true));
        assertThat(ran).succeedsWithin(10, TimeUnit.SECONDS);
    }
}
