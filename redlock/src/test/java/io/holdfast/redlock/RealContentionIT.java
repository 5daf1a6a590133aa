package io.holdfast.redlock;

import static io.holdfast.redlock.FiveServers.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.ExclusionProbe;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Contenders for one lock on five real masters, each a client of its own. */
class RealContentionIT {

    private static final Duration HOLD = Duration.ofMillis(5);

    /** Long enough for useful figures; goes on until each contender has had the lock. */
    private static final Duration AT_LEAST = Duration.ofSeconds(4);

    @RegisterExtension
    final FiveServers five = new FiveServers();

    private final ExclusionProbe probe = ExclusionProbe.exclusive();

    /** Written by the test. */
    private volatile boolean isOver;

    private final class Contender {

        final FiveServers.Client client = five.client(LockOptions.defaults(), five.direct());
        final AtomicInteger grants = new AtomicInteger();
        final AtomicLong longestWaitNanos = new AtomicLong();

        Mono<Void> run() {
            return Mono.defer(() -> {
                        long begin = System.nanoTime();
                        return client.locks.lock(NAME).acquire().flatMap(lease -> hold(lease, begin));
                    })
                    .repeat(() -> !isOver)
                    .then();
        }

        private Mono<Void> hold(LockLease lease, long begin) {
            grants.incrementAndGet();
            longestWaitNanos.accumulateAndGet(System.nanoTime() - begin, Math::max);
            return probe.guard(lease.fencingToken(), Mono.delay(HOLD)).then(lease.release());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5, 20})
    void allContendersMakeProgress(int number) {
        List<Contender> contenders =
                IntStream.range(0, number).mapToObj(i -> new Contender()).toList();
        contenders.forEach(it -> FiveServers.await(it.client.backend.ping())); // the connections are there
        long begin = System.nanoTime();
        var end = Mono.when(contenders.stream().map(Contender::run).toList()).toFuture();
        FiveServers.pause(AT_LEAST);
        try {
            FiveServers.eventually(() -> contenders.stream().allMatch(it -> it.grants.get() > 0));
        } finally {
            print(contenders, Duration.ofNanos(System.nanoTime() - begin));
        }
        isOver = true;
        end.join();
        probe.verify();
        assertThat(probe.entries()).isGreaterThan(number);
    }

    private static void print(List<Contender> contenders, Duration time) {
        int grants = contenders.stream().mapToInt(it -> it.grants.get()).sum();
        List<Vote> attempts = contenders.stream()
                .flatMap(it -> it.client.votes.stream())
                .filter(it -> it.question() == Vote.Question.ACQUIRE)
                .toList();
        long splits = attempts.stream()
                .filter(it -> it.outcome() == Vote.Outcome.NO && it.count(Ballot.Answer.YES) > 0)
                .count();
        System.out.printf(
                "%d contenders on real masters: %d grants in %d ms, %.2f rounds and %.2f split votes per grant, "
                        + "longest wait %d ms, fewest grants of one %d%n",
                contenders.size(),
                grants,
                time.toMillis(),
                (double) attempts.size() / grants,
                (double) splits / grants,
                contenders.stream()
                                .mapToLong(it -> it.longestWaitNanos.get())
                                .max()
                                .orElseThrow()
                        / 1_000_000,
                contenders.stream().mapToInt(it -> it.grants.get()).min().orElseThrow());
    }
}
