package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LeaderElection;
import io.holdfast.LockHolder;
import io.holdfast.spi.LockFeature;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Elections of one leader, by the engine: the next candidate leads when the leader resigns, and a cancelled candidate
 * leaves nothing.
 */
interface ElectionContract extends LockBackendUnderTest {

    @Test
    default void candidatesLeadOneAfterTheOther() {
        ManyLocksContract.withClients(this, clients -> {
            ExclusionProbe probe = ExclusionProbe.exclusive();
            Mono<Long> terms = Flux.range(0, 20)
                    .flatMap(
                            number -> clients.election(number)
                                    .lead(lease -> probe.guard(
                                            lease.fencingToken(), Mono.delay(Duration.ofMillis(number % 3)))),
                            20)
                    .count();
            assertThat(clients.answer(terms)).isEqualTo(20);
            probe.verify();
        });
    }

    @Test
    default void nextCandidateLeadsWhenTheLeaderResigns() {
        ManyLocksContract.withClients(this, clients -> {
            LeaderElection one = clients.election(0);
            LeaderElection other = clients.election(1);
            boolean isVisible = backend().features().contains(LockFeature.HOLDERS);
            Mono<Long> tokens = one.lead(lease ->
                            isVisible ? other.leader().map(LockHolder::fencingToken) : Mono.just(lease.fencingToken()))
                    .single()
                    .flatMap(first -> other.lead(lease -> Mono.just(lease.fencingToken() - first))
                            .single());
            assertThat(clients.answer(tokens))
                    .as("the second token less the first one, as the other client saw it")
                    .isPositive();
            Boolean isOver = clients.answer(isVisible ? one.leader().hasElement() : Mono.just(false));
            assertThat(isOver).as("there is a leader in the end").isFalse();
        });
    }

    @Test
    default void candidatesCancelledAtAnyInstantLeaveNothing() {
        ManyLocksContract.withClients(this, clients -> {
            Mono<Long> left = Flux.range(0, 60)
                    .flatMap(round -> clients.election(round)
                            .lead(lease -> Mono.delay(Duration.ofMillis(1)))
                            .takeUntilOther(Mono.delay(Duration.ofNanos(new Random(round).nextInt(20_000_000)))))
                    .then(clients.election(0).lead(lease -> Mono.just(1L)).single());
            assertThat(clients.answer(left)).isEqualTo(1L);
        });
    }
}
