package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * While users' code runs on one thread, another thread brings an answer of a master. It must not wait for that code.
 */
class SlowUsersCodeTest {

    private static final LockClaim CLAIM =
            LockClaim.first(LockKey.of(LockKind.MUTEX, "stock/42"), "claim", Duration.ofSeconds(30), Waiting.NOTIFY);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final Sinks.Many<WatchSignal> signals = Sinks.many().multicast().directBestEffort();
    private final Sinks.One<Renewal> lateRenewal = Sinks.one();
    private Mono<LockAttempt> attempt = Mono.just(new LockAttempt.Acquired(7, CLAIM.lease()));

    /** Two of the three masters answer renewals at once; the third answers when the test lets it. */
    private final RedlockBackend.Builder builder = RedlockBackend.builder(List.of(
                    master(() -> Mono.just(new Renewal.Held(CLAIM.lease()))),
                    master(() -> Mono.just(new Renewal.Held(CLAIM.lease()))),
                    master(lateRenewal::asMono)))
            .timer(time)
            .closeMasters(false);

    @AfterEach
    void endTheTimer() {
        time.dispose();
    }

    @Test
    void aSlowErrorHandlerDelaysNoAnswer() {
        attempt = Mono.error(new LockBackendException("stock/42", "not there", true, null));
        List<Throwable> told = new ArrayList<>();
        LockBackend failing = builder.build();
        Disposable watching = failing.watch(CLAIM).subscribe();
        failing.tryAcquire(CLAIM).subscribe(answer -> {}, error -> {
            anotherThread(() -> signals.tryEmitNext(new WatchSignal.Changed()));
            told.add(error);
        });
        assertThat(told).hasSize(1);
        watching.dispose();
    }

    @Test
    void aSlowVoteListenerDelaysNoAnswer() {
        List<Vote.Question> told = new ArrayList<>();
        LockBackend listened = builder.listener(vote -> {
                    told.add(vote.question());
                    if (vote.question() == Vote.Question.RENEW) {
                        anotherThread(() -> lateRenewal.tryEmitValue(new Renewal.Held(CLAIM.lease())));
                    }
                })
                .build();
        assertThat(listened.tryAcquire(CLAIM).block()).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(listened.renew(CLAIM).block()).isInstanceOf(Renewal.Held.class);
        assertThat(told).containsExactly(Vote.Question.ACQUIRE, Vote.Question.RENEW);
    }

    /** Fails if that thread waits for a monitor that the current thread holds. */
    private static void anotherThread(Supplier<Sinks.EmitResult> passesOn) {
        assertThat(CompletableFuture.supplyAsync(passesOn))
                .as("another thread passes on an answer of a master")
                .succeedsWithin(10, TimeUnit.SECONDS)
                .isEqualTo(Sinks.EmitResult.OK);
    }

    private LockBackend master(Supplier<Mono<Renewal>> renewal) {
        LockBackend memory = InMemoryLockBackend.create();
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return memory;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return attempt;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return signals.asFlux().startWith(new WatchSignal.Armed());
            }

            @Override
            public Mono<Renewal> renew(LockClaim claim) {
                return Mono.defer(renewal);
            }
        };
    }
}
