package io.holdfast.zookeeper.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.zookeeper.Waiting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class SerialExecutorTest {

    private final SerialExecutor executor = new SerialExecutor(Schedulers.parallel());

    @Test
    void tasksOfOneThreadRunInOrder() {
        Queue<Integer> ran = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        IntStream.range(0, 10_000).forEach(i -> executor.run(() -> ran.add(i)));
        executor.run(() -> end.complete(null));
        assertThat(end).succeedsWithin(Waiting.PATIENCE);
        assertThat(ran)
                .containsExactlyElementsOf(IntStream.range(0, 10_000).boxed().toList());
    }

    @Test
    void tasksOfManyThreadsNeverOverlapAndNoneIsLost() {
        int[] unguarded = new int[1];
        AtomicInteger inside = new AtomicInteger();
        AtomicBoolean overlapped = new AtomicBoolean();
        Mono<Long> all = Flux.range(0, 50_000)
                .flatMap(
                        i -> Mono.fromRunnable(() -> executor.run(() -> {
                                    overlapped.compareAndSet(false, inside.incrementAndGet() != 1);
                                    unguarded[0]++;
                                    inside.decrementAndGet();
                                }))
                                .subscribeOn(Schedulers.boundedElastic())
                                .thenReturn(i),
                        8)
                .count();
        assertThat(Waiting.forMono(all)).isEqualTo(50_000);
        assertThat(Waiting.forMono(executor.defer(() -> Mono.just(unguarded[0]))))
                .isEqualTo(50_000);
        assertThat(overlapped).isFalse();
    }

    @Test
    void taskThatThrowsDoesNotStopTheExecutor() {
        executor.run(() -> {
            throw new IllegalStateException("on purpose");
        });
        assertThat(Waiting.forMono(executor.defer(() -> Mono.just("after")))).isEqualTo("after");
    }

    /** Reactor's operators and the executor do not catch errors of the JVM. */
    @Test
    void fatalErrorReachesItsThreadAndDoesNotStopTheExecutor() {
        CompletableFuture<String> inTheSameTurn = new CompletableFuture<>();
        assertThatThrownBy(() -> executor.run(() -> {
                    executor.run(() -> inTheSameTurn.complete("after"));
                    throw new LinkageError("on purpose");
                }))
                .isInstanceOf(LinkageError.class);
        assertThat(inTheSameTurn).succeedsWithin(Waiting.PATIENCE);
        assertThat(Waiting.forMono(executor.defer(() -> Mono.just("after")))).isEqualTo("after");
    }

    @Test
    void workElsewhereThatFailsWithAnErrorFailsItsRequest() {
        assertThatThrownBy(() -> Waiting.forMono(executor.elsewhere(() -> {
                    throw new AssertionError("on purpose");
                })))
                .hasStackTraceContaining("on purpose");
        assertThat(Waiting.forMono(executor.defer(() -> Mono.just("after")))).isEqualTo("after");
    }

    @Test
    void fatalErrorOfWorkElsewhereFailsItsRequestAndReachesItsThread() {
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        Scheduler watched = Schedulers.newSingle(task -> {
            Thread thread = new Thread(task, "watched");
            thread.setDaemon(true);
            thread.setUncaughtExceptionHandler((its, error) -> seen.complete(error));
            return thread;
        });
        SerialExecutor mine = new SerialExecutor(watched);
        assertThatThrownBy(() -> Waiting.forMono(mine.elsewhere(() -> {
                    throw new LinkageError("on purpose");
                })))
                .hasStackTraceContaining("on purpose")
                .isNotInstanceOf(LinkageError.class);
        assertThat(seen).succeedsWithin(Waiting.PATIENCE).isInstanceOf(LinkageError.class);
        assertThat(Waiting.forMono(mine.defer(() -> Mono.just("after")))).isEqualTo("after");
        watched.dispose();
    }

    @Test
    void sourceCancelledBeforeItsTurnIsNotSubscribed() {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        AtomicBoolean subscribed = new AtomicBoolean();
        SerialExecutor slow = new SerialExecutor(Schedulers.boundedElastic());
        block(slow, hold);
        slow.defer(() -> Mono.fromRunnable(() -> subscribed.set(true)))
                .subscribe()
                .dispose();
        hold.complete(null);
        assertThat(Waiting.forMono(slow.defer(() -> Mono.just(1)))).isEqualTo(1);
        assertThat(subscribed).isFalse();
    }

    @Test
    void slowSubscriberDelaysNeitherTheExecutorNorOtherAnswers() {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        SerialExecutor busy = new SerialExecutor(Schedulers.boundedElastic());
        CompletableFuture<Void> all = new CompletableFuture<>();
        block(busy, all); // so that the three answers leave in one turn
        List<CompletableFuture<Integer>> answers = IntStream.range(0, 3)
                .mapToObj(i -> busy.outside(busy.defer(() -> Mono.just(i)))
                        .doOnNext(answer -> {
                            if (answer != 1) {
                                hold.join();
                            }
                        })
                        .toFuture())
                .toList();
        all.complete(null);
        assertThat(answers.get(1)).succeedsWithin(Waiting.PATIENCE);
        assertThat(Waiting.forMono(busy.defer(() -> Mono.just(1)))).isEqualTo(1);
        hold.complete(null);
        assertThat(answers.get(0)).succeedsWithin(Waiting.PATIENCE);
        assertThat(answers.get(2)).succeedsWithin(Waiting.PATIENCE);
    }

    @Test
    void answerIsEmittedOnTheThreadsOfTheExecutor() {
        SerialExecutor mine = new SerialExecutor(Schedulers.newParallel("mine"));
        Mono<String> thread = mine.outside(mine.defer(() -> Mono.just(1)))
                .map(answer -> Thread.currentThread().getName());
        assertThat(Waiting.forMono(thread)).startsWith("mine");
        Mono<String> elsewhere =
                mine.outside(Mono.just(1)).map(answer -> Thread.currentThread().getName());
        assertThat(Waiting.forMono(elsewhere)).startsWith("mine");
        assertThatThrownBy(() -> Waiting.forMono(mine.outside(mine.defer(() -> Mono.error(new IOException("gone"))))))
                .hasRootCauseInstanceOf(IOException.class);
        assertThat(mine.outside(mine.defer(Mono::empty)).toFuture()).succeedsWithin(Waiting.PATIENCE);
    }

    @Test
    void taskRunsOnTheCallingThreadAndItsAnswerOnAnother() {
        List<Thread> ranOn = new ArrayList<>();
        executor.run(() -> ranOn.add(Thread.currentThread()));
        assertThat(ranOn).containsExactly(Thread.currentThread());
        Mono<Thread> emittedOn =
                executor.outside(executor.defer(() -> Mono.just(1))).map(answer -> Thread.currentThread());
        assertThat(Waiting.forMono(emittedOn)).isNotEqualTo(Thread.currentThread());
    }

    @Test
    void callingThreadDoesNotRunAllTasksThatFollow() {
        AtomicInteger left = new AtomicInteger(1_000);
        List<Thread> ranOn = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        Runnable again = new Runnable() {
            @Override
            public void run() {
                ranOn.add(Thread.currentThread());
                if (left.decrementAndGet() > 0) {
                    executor.run(this);
                } else {
                    end.complete(null);
                }
            }
        };
        executor.run(again);
        assertThat(end).succeedsWithin(Waiting.PATIENCE);
        assertThat(ranOn.stream().filter(Thread.currentThread()::equals).count())
                .isLessThan(1_000);
    }

    /** Keeps the executor busy on another thread. */
    private static void block(SerialExecutor executor, CompletableFuture<Void> until) {
        CompletableFuture<Void> blocked = new CompletableFuture<>();
        Disposable unused = Schedulers.boundedElastic()
                .schedule(() -> executor.run(() -> {
                    blocked.complete(null);
                    until.join();
                }));
        blocked.join();
    }

    @Test
    void tasksAreNotLostWhenTheSchedulerIsGone() {
        Scheduler gone = Schedulers.newSingle("gone");
        gone.dispose();
        List<Integer> ran = new ArrayList<>();
        new SerialExecutor(gone).run(() -> ran.add(1));
        assertThat(ran).containsExactly(1);
    }
}
