package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockLostException;
import io.holdfast.test.TestLocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** The recipe of docs/guides/recipes.md for the end of a service. */
class StopRecipeTest {

    @RegisterExtension
    final TestLocks test = TestLocks.virtualTime();

    private final LockClient locks = test.client();

    private final List<String> ended = new ArrayList<>();
    private Mono<Void> stopServer = Mono.defer(() -> Mono.delay(Duration.ofSeconds(5)))
            .doOnNext(tick -> ended.add("server"))
            .then();

    // recipe: begin
    Mono<Void> stop() {
        return Mono.whenDelayError(locks.drain(), stopServer) // waits end at once; holders and requests in flight go on
                .timeout(Duration.ofSeconds(20)) // for so long
                .onErrorComplete() // close in any case
                .then(Mono.defer(locks::close)); // defer: close() begins when it is called
    }
    // recipe: end

    private CompletableFuture<Long> workFor(Duration time) {
        return locks.lock("report").withLock(Mono.delay(time)).toFuture();
    }

    @Test
    void waitsEndAtOnceAndTheHolderFinishes() {
        CompletableFuture<Long> holder = workFor(Duration.ofSeconds(10));
        CompletableFuture<Long> waiter = workFor(Duration.ofSeconds(10));

        CompletableFuture<Void> stopped = stop().toFuture();
        assertThat(waiter)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockClosedException.class);

        test.advance(Duration.ofSeconds(9));
        assertThat(ended).containsExactly("server");
        assertThat(holder).isNotDone();
        test.advance(Duration.ofSeconds(2));
        assertThat(holder).isCompleted();
        assertThat(stopped).isCompleted();
    }

    @Test
    void workThatDoesNotEndIsCancelledAfterTheLimit() {
        CompletableFuture<Long> holder = workFor(Duration.ofHours(1));

        CompletableFuture<Void> stopped = stop().toFuture();
        test.advance(Duration.ofSeconds(19));
        assertThat(holder).isNotDone();
        test.advance(Duration.ofSeconds(5));
        assertThat(holder).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(LockLostException.class);
        assertThat(stopped).isCompleted();
    }

    @Test
    void clientIsClosedThoughTheServerFailsToStop() {
        stopServer = Mono.error(new IllegalStateException("a server that fails"));

        test.await(stop());
        assertThat(locks.lock("report").acquire().toFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockClosedException.class);
    }
}
