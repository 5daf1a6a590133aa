package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.ExclusionProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Contenders in virtual time, each a client of its own, 0.2 to 1 ms away from each of five masters. */
class ContentionTest {

    private static final Duration RUN = Duration.ofSeconds(10);
    private static final Duration HOLD = Duration.ofMillis(5);

    private final Random random = new Random(42);
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Master> masters =
            Stream.generate(() -> new Master(time)).limit(5).toList();
    private final ExclusionProbe probe = ExclusionProbe.exclusive();
    private int rounds;
    private int splits;

    @ParameterizedTest
    @ValueSource(ints = {2, 5, 20})
    void allContendersMakeProgress(int number) {
        List<Contender> contenders =
                IntStream.range(0, number).mapToObj(i -> new Contender()).toList();
        contenders.forEach(Contender::next);
        time.advanceTimeBy(RUN);
        contenders.forEach(it -> it.isDone = true);
        int grants = contenders.stream().mapToInt(it -> it.grants).sum();
        long longest =
                contenders.stream().mapToLong(it -> it.longestWaitMillis).max().orElseThrow();
        int fewest = contenders.stream().mapToInt(it -> it.grants).min().orElseThrow();
        System.out.printf(
                "%d contenders: %d grants in %d s, %.2f rounds and %.2f split votes per grant, longest wait %d ms, fewest grants of one %d%n",
                number, grants, RUN.toSeconds(), (double) rounds / grants, (double) splits / grants, longest, fewest);
        time.advanceTimeBy(Duration.ofSeconds(10));
        contenders.forEach(it -> it.locks.close().subscribe());
        time.advanceTimeBy(Duration.ofSeconds(10));
        probe.verify();
        assertThat(fewest).as("fewest grants of a contender").isPositive();
        assertThat(longest).as("longest wait in ms").isLessThan(RUN.toMillis() / 2);
        assertThat((double) rounds / grants).as("rounds per grant").isLessThan(number + 5);
        masters.forEach(it -> assertThat(it.contents()).isEmpty());
    }

    /**
     * One waiter, one holder: the waiter notices a release by its message, long before its next attempt by the clock.
     */
    @Test
    void releaseWakesAWaiterEarly() {
        List<Long> handOffs = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Contender holder = new Contender();
            Contender waiter = new Contender();
            List<LockLease> leases = new ArrayList<>();
            holder.locks.lock("early").acquire().subscribe(leases::add);
            time.advanceTimeBy(Duration.ofMillis(20));
            waiter.locks.lock("early").acquire().subscribe(leases::add);
            time.advanceTimeBy(Duration.ofMillis(3_000 + random.nextInt(1_000)));
            long released = time.now(TimeUnit.MICROSECONDS);
            leases.get(0).release().subscribe();
            while (leases.size() < 2) {
                time.advanceTimeBy(Duration.ofNanos(100_000));
            }
            handOffs.add((time.now(TimeUnit.MICROSECONDS) - released) / 1_000);
            leases.get(1).release().subscribe();
            time.advanceTimeBy(Duration.ofSeconds(1));
            holder.locks.close().subscribe();
            waiter.locks.close().subscribe();
            time.advanceTimeBy(Duration.ofSeconds(5));
        }
        System.out.println("from a release to the next lease, in ms: " + handOffs);
        assertThat(handOffs).allMatch(millis -> millis < 20);
    }

    private final class Contender {

        final LockClient locks;
        int grants;
        long longestWaitMillis;
        boolean isDone;

        Contender() {
            Random chance = new Random(random.nextLong());
            List<Wire> wires = masters.stream()
                    .map(master -> {
                        Wire wire = new Wire(() -> master, time);
                        wire.delayNanos = () -> 100_000 + chance.nextInt(400_000);
                        return wire;
                    })
                    .toList();
            RedlockBackend backend = RedlockBackend.builder(wires)
                    .timer(time)
                    .wallClock(new MutableClock(time))
                    .random(chance::nextDouble)
                    .listener(this::count)
                    .closeMasters(false)
                    .build();
            locks = LockClient.builder(backend)
                    .timer(time)
                    .options(LockOptions.defaults())
                    .build();
        }

        private void count(Vote vote) {
            if (vote.question() == Vote.Question.ACQUIRE) {
                rounds++;
                splits += vote.outcome() == Vote.Outcome.NO && vote.count(Ballot.Answer.YES) > 0 ? 1 : 0;
            }
        }

        void next() {
            if (isDone) {
                return;
            }
            long begun = time.now(TimeUnit.MILLISECONDS);
            locks.lock("contended").acquire().subscribe(lease -> hold(lease, begun));
        }

        private void hold(LockLease lease, long begun) {
            if (!isDone) {
                grants++;
                longestWaitMillis = Math.max(longestWaitMillis, time.now(TimeUnit.MILLISECONDS) - begun);
            }
            probe.enter(lease.fencingToken());
            var unused = time.schedule(
                    () -> {
                        probe.exit();
                        lease.release().subscribe(nothing -> {}, error -> {}, this::next);
                    },
                    HOLD.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }
}
