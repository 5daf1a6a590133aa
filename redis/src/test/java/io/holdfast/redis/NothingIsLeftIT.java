package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockKind;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What is left after all clients were closed, whatever happened before. */
class NothingIsLeftIT {

    private static final Duration LEASE = Duration.ofSeconds(3);

    private static final List<LockKind> KINDS = List.of(LockKind.values());

    private Store store;
    private final List<LockEvent> events = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        store.close();
    }

    @Test
    void onlyExpiringCountersAreLeftAfterContentionCancellationsLossesAndTimeouts() {
        List<LockClient> clients = IntStream.range(0, 3).mapToObj(n -> client()).toList();
        long seed = System.nanoTime();
        System.out.printf("[holdfast] seed %d%n", seed);
        Random random = new Random(seed);
        CompletableFuture<?> longWork = clients.get(0)
                .lock("long")
                .withLock(Mono.delay(Duration.ofSeconds(10)))
                .toFuture();
        List<CompletableFuture<Void>> visits = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            LockKind kind = KINDS.get(random.nextInt(KINDS.size()));
            LockClient client = clients.get(random.nextInt(clients.size()));
            visits.add(visit(client, kind, "lock " + random.nextInt(5), random).toFuture());
        }
        for (int i = 0; i < 20; i++) {
            ClientOverRedis.pause(Duration.ofMillis(40));
            loseSome(random);
        }

        visits.forEach(CompletableFuture::join);
        store.redis().del(Store.holderKey("long"));
        assertThatThrownBy(longWork::join).hasCauseInstanceOf(LockLostException.class);
        clients.forEach(client -> await(client.close()));

        assertThat(events).hasAtLeastOneElementOfType(LockEvent.Lost.class);
        List<String> left = store.keys();
        assertThat(left)
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).as(key).isPositive());
        // An attempt that was withdrawn while it was under way leaves a tombstone, for half a minute.
        assertThat(left)
                .filteredOn(key -> key.contains(":gone"))
                .allSatisfy(key -> assertThat(store.redis().pttl(key)).isLessThanOrEqualTo(30_000));
        assertThat(left).as("the keys of the tokens").isNotEmpty();
        assertThat(store.leftovers()).isEmpty();
        ClientOverRedis.eventually(() -> store.redis().pubsubChannels().isEmpty());
        ClientOverRedis.eventually(() -> store.clients() == 1); // the connection of the test
    }

    /** Works for a moment; leaves before, while it waits or in the middle; gives up; or just tries once. */
    private static Mono<Void> visit(LockClient client, LockKind kind, String name, Random random) {
        Duration moment = Duration.ofMillis(random.nextInt(20));
        Mono<Long> work = Mono.delay(Duration.ofMillis(random.nextInt(5)));
        Mono<?> visit = switch (random.nextInt(4)) {
            case 0 -> WaitingProcess.lock(client, kind, name).withLock(work);
            case 1 -> WaitingProcess.lock(client, kind, name).withLock(work).take(moment);
            case 2 ->
                WaitingProcess.lock(client, kind, name)
                        .with(LockOptions.builder()
                                .leaseDuration(LEASE)
                                .waitTimeout(moment)
                                .build())
                        .withLock(work);
            default -> WaitingProcess.lock(client, kind, name).tryAcquire().flatMap(lease -> lease.release());
        };
        return Mono.delay(Duration.ofMillis(random.nextInt(1_000)))
                .then(visit)
                .then()
                .onErrorComplete();
    }

    /** Makes all holders of some lock lose it. */
    private void loseSome(Random random) {
        List<String> held = store.keys().stream()
                .filter(key -> key.endsWith(":mutex") || key.endsWith(":rw") || key.endsWith(":semaphore"))
                .toList();
        if (!held.isEmpty()) {
            String key = held.get(random.nextInt(held.size()));
            store.redis().del(key, key + ":held");
        }
    }

    private LockClient client() {
        return LockClient.builder(store.backend())
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .listener(events::add)
                .build();
    }
}
