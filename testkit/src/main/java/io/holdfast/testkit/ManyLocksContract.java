package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The engine takes several locks together: each back end has to release at once the locks of an attempt in vain. */
interface ManyLocksContract extends LockBackendUnderTest {

    @Test
    default void clientsThatTakeManyLocksInAnyOrderDoNotWaitForEachOther() {
        withClients(this, contest -> {
            List<String> names = names(contest);
            List<ExclusionProbe> probes =
                    names.stream().map(name -> ExclusionProbe.exclusive()).toList();
            Mono<Long> rounds = Flux.range(0, 24)
                    .flatMap(round -> {
                        List<Integer> some = some(names.size(), new Random(round));
                        LockClient client = round % 2 == 0 ? contest.one : contest.other;
                        return all(client, names, some).withLock(leases -> guarded(probes, leases, names, some, 0));
                    })
                    .count();
            assertThat(contest.names.answer(rounds)).isEqualTo(24);
            probes.forEach(ExclusionProbe::verify);
        });
    }

    @Test
    default void manyLocksAreFreeAgainAfterCancellationsAtAnyInstant() {
        withClients(this, contest -> {
            List<String> names = names(contest);
            List<Integer> each = List.of(0, 1, 2);
            Mono<Long> left = Flux.range(0, 60)
                    .flatMap(round -> all(round % 2 == 0 ? contest.one : contest.other, names, each)
                            .withLock(Mono.delay(Duration.ofMillis(1)))
                            .takeUntilOther(Mono.delay(Duration.ofNanos(new Random(round).nextInt(20_000_000)))))
                    .then(all(contest.one, names, each).withLock(Mono.just(1L)));
            assertThat(contest.names.answer(left)).isEqualTo(1L);
        });
    }

    /** The clients of a test. */
    final class Clients {

        private final Contest names;
        private final LockClient one;
        private final LockClient other;

        private Clients(Contest names, LockBackend one, LockBackend other) {
            this.names = names;
            this.one = client(one);
            this.other = client(other);
        }

        /** Returns the election of one client or of the other. */
        LeaderElection election(int number) {
            return (number % 2 == 0 ? one : other).election(names.name());
        }

        LockClient one() {
            return one;
        }

        LockClient other() {
            return other;
        }

        String name() {
            return names.name();
        }

        <T> T answer(Mono<T> question) {
            return names.answer(question);
        }

        /** Makes a client with a short lease: a back end may remember a refused claim for as long. */
        private static LockClient client(LockBackend backend) {
            return LockClient.builder(backend)
                    .options(LockOptions.builder()
                            .leaseDuration(Duration.ofSeconds(2))
                            .build())
                    .closeBackend(false)
                    .build();
        }
    }

    /** Fails if the back end keeps anything when the clients are closed. */
    static void withClients(LockBackendUnderTest store, Consumer<Clients> test) {
        try (Contest contest = new Contest(store)) {
            Clients clients = new Clients(contest, store.backend(), store.anotherClient());
            try {
                test.accept(clients);
            } finally {
                Long closed = contest.answer(
                        Mono.when(clients.one.close(), clients.other.close()).thenReturn(1L));
                assertThat(closed).isEqualTo(1L);
                long until = System.nanoTime() + store.patience().toNanos();
                while (!store.leftovers().isEmpty() && System.nanoTime() < until) {
                    assertThat(contest.answer(Mono.delay(Duration.ofMillis(10))))
                            .isZero();
                }
            }
        }
    }

    private static List<String> names(Clients contest) {
        return IntStream.range(0, 3)
                .mapToObj(at -> contest.names.name() + "/" + at)
                .toList();
    }

    private static List<Integer> some(int count, Random random) {
        List<Integer> all = new ArrayList<>(IntStream.range(0, count).boxed().toList());
        Collections.shuffle(all, random);
        return all.subList(0, 1 + random.nextInt(count));
    }

    private static ReactiveMultiLock all(LockClient client, List<String> names, List<Integer> some) {
        return client.all(some.stream().map(at -> client.lock(names.get(at))).toArray(ReactiveLock[]::new));
    }

    private static Mono<Integer> guarded(
            List<ExclusionProbe> probes, MultiLease leases, List<String> names, List<Integer> some, int from) {
        if (from == some.size()) {
            return Mono.just(from);
        }
        int member = some.get(from);
        long token = leases.lease(names.get(member)).fencingToken();
        return probes.get(member).guard(token, Mono.defer(() -> guarded(probes, leases, names, some, from + 1)));
    }
}
