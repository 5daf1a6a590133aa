package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.test.TestLocks;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Recipes of docs/guides/recipes.md for work that one instance at a time does. */
class OnceRecipesTest {

    private static final LocalDate NIGHT = LocalDate.of(2026, 11, 23);

    @RegisterExtension
    final TestLocks test = TestLocks.virtualTime();

    private final LockClient locks = test.client();

    private final NightBook book = new NightBook();
    private final Cache cache = new Cache();
    private final List<String> done = new ArrayList<>();

    private Duration workTime = Duration.ofSeconds(1);
    private final Mono<Void> job = Mono.defer(() -> Mono.delay(workTime))
            .doOnNext(tick -> done.add("job"))
            .then();

    // recipe: begin
    Mono<Boolean> run(LocalDate night) {
        return locks.lock("nightly-job").withLock(lease -> {
            long token = lease.fencingToken();
            return book.begin(night, token) // false: the night is done, or a later owner was here
                    .filter(isOurs -> isOurs)
                    .flatMap(isOurs -> job.then(book.finish(night, token)))
                    .defaultIfEmpty(false);
        });
    }
    // recipe: end

    @Test
    void theJobOfANightRunsOnce() {
        assertThat(test.await(Mono.zip(run(NIGHT), run(NIGHT)))).containsExactly(true, false);
        assertThat(test.await(run(NIGHT))).isFalse();
        assertThat(test.await(run(NIGHT.plusDays(1)))).isTrue();
        assertThat(done).hasSize(2);
    }

    @Test
    void anInstanceThatWasPausedDoesNotFinishTheNightOfALaterOne() {
        workTime = Duration.ofHours(1);
        CompletableFuture<Boolean> paused = run(NIGHT).toFuture();
        test.held("nightly-job").freeze();

        workTime = Duration.ofSeconds(1);
        assertThat(test.await(run(NIGHT))).isTrue();
        test.advance(Duration.ofHours(1));

        assertThat(paused).isCompletedExceptionally();
        assertThat(book.finishedBy).containsExactly(2L);
    }

    // recipe: begin
    Mono<Boolean> runOnce() { // true: this instance has run the job
        ReactiveLock everyMinute = locks.lock("every-minute")
                .with(LockOptions.builder()
                        .minHoldTime(Duration.ofSeconds(30)) // more than the clocks differ, less than the period
                        .waitTimeout(Duration.ZERO) // one attempt
                        .build());
        return everyMinute
                .withLock(job)
                .thenReturn(true)
                .onErrorResume(
                        LockTimeoutException.class,
                        late -> late.backendAnswered()
                                ? Mono.just(false) // another instance runs it, or has run it
                                : Mono.error(late));
    }
    // recipe: end

    @Test
    void anInstanceWithALateClockDoesNotRepeatTheJobOfAPeriod() {
        assertThat(test.await(runOnce())).isTrue();

        test.advance(Duration.ofSeconds(10));
        assertThat(test.await(runOnce())).as("10 s later").isFalse();

        test.advance(Duration.ofSeconds(50));
        assertThat(test.await(runOnce())).as("the next minute").isTrue();
        assertThat(done).hasSize(2);
        test.advance(Duration.ofSeconds(30));
    }

    @Test
    void anAbsentBackEndIsNotAJobThatAnotherInstanceRuns() {
        test.unavailable();

        assertThatThrownBy(() -> test.await(runOnce())).isInstanceOf(LockTimeoutException.class);
    }

    // recipe: begin
    Mono<String> value(String key) {
        Mono<String> fill = Mono.defer(() -> cache.get(key)) // perhaps it was filled while we waited
                .switchIfEmpty(Mono.defer(() -> load(key).flatMap(it -> cache.put(key, it))));
        return cache.get(key)
                .switchIfEmpty(Mono.defer(() -> locks.lock("cache/" + key)
                        .withLock(fill)
                        .onErrorResume(LockException.class, error -> load(key)))); // double work, and no harm
    }
    // recipe: end

    @Test
    void theCacheIsFilledOnce() {
        List<String> values =
                test.await(Flux.range(0, 10).flatMap(i -> value("tea")).collectList());

        assertThat(values).hasSize(10).containsOnly("loaded tea");
        assertThat(done).containsExactly("load");
    }

    @Test
    void theCacheIsNotNeededWhenTheBackEndIsAway() {
        test.unavailable();

        assertThat(test.await(value("tea"))).isEqualTo("loaded tea");
    }

    private Mono<String> load(String key) {
        return Mono.delay(workTime).map(tick -> {
            done.add("load");
            return "loaded " + key;
        });
    }

    /** Does what the two statements of the recipe do. */
    private static final class NightBook {

        private final List<Long> finishedBy = new ArrayList<>();
        private LocalDate finished = LocalDate.MIN;
        private long newest;

        Mono<Boolean> begin(LocalDate night, long token) {
            return Mono.fromCallable(() -> {
                boolean isOurs = newest <= token && finished.isBefore(night);
                newest = isOurs ? token : newest;
                return isOurs;
            });
        }

        Mono<Boolean> finish(LocalDate night, long token) {
            return Mono.fromCallable(() -> {
                boolean isOurs = newest == token;
                if (isOurs) {
                    finished = night;
                    finishedBy.add(token);
                }
                return isOurs;
            });
        }
    }

    private static final class Cache {

        private final Map<String, String> values = new HashMap<>();

        Mono<String> get(String key) {
            return Mono.justOrEmpty(values.get(key));
        }

        Mono<String> put(String key, String value) {
            return Mono.fromCallable(() -> {
                values.put(key, value);
                return value;
            });
        }
    }
}
