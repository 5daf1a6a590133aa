package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class StrandTest {

    private final Strand strand = new Strand(Schedulers.parallel());

    @Test
    void tasksOfOneThreadRunInOrder() {
        Queue<Integer> ran = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        IntStream.range(0, 10_000).forEach(i -> strand.run(() -> ran.add(i)));
        strand.run(() -> end.complete(null));
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
                        i -> Mono.fromRunnable(() -> strand.run(() -> {
                                    overlapped.compareAndSet(false, inside.incrementAndGet() != 1);
                                    unguarded[0]++;
                                    inside.decrementAndGet();
                                }))
                                .subscribeOn(Schedulers.boundedElastic())
                                .thenReturn(i),
                        8)
                .count();
        assertThat(Waiting.forMono(all)).isEqualTo(50_000);
        assertThat(Waiting.forMono(strand.defer(() -> Mono.just(unguarded[0])))).isEqualTo(50_000);
        assertThat(overlapped).isFalse();
    }

    @Test
    void taskThatThrowsDoesNotEndTheStrand() {
        strand.run(() -> {
            throw new IllegalStateException("on purpose");
        });
        assertThat(Waiting.forMono(strand.defer(() -> Mono.just("after")))).isEqualTo("after");
    }

    @Test
    void whatIsCancelledBeforeItsTurnIsNotSubscribed() {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        AtomicBoolean subscribed = new AtomicBoolean();
        Strand slow = new Strand(Schedulers.boundedElastic());
        slow.run(hold::join);
        slow.defer(() -> Mono.fromRunnable(() -> subscribed.set(true)))
                .subscribe()
                .dispose();
        hold.complete(null);
        assertThat(Waiting.forMono(slow.defer(() -> Mono.just(1)))).isEqualTo(1);
        assertThat(subscribed).isFalse();
    }

    @Test
    void tasksAreNotLostWhenTheSchedulerIsGone() {
        Scheduler gone = Schedulers.newSingle("gone");
        gone.dispose();
        List<Integer> ran = new ArrayList<>();
        new Strand(gone).run(() -> ran.add(1));
        assertThat(ran).containsExactly(1);
    }
}
