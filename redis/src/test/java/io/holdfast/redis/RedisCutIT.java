package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Cuts the connection around one command of a client, at each possible place. The outcome of the command is unknown,
 * and the client finds it out or undoes it. A second client of the same server has an unharmed connection.
 */
class RedisCutIT {

    private static final Duration LEASE = Duration.ofSeconds(3);

    /** A third of it is longer than the wait for any answer. */
    private static final LockOptions LONG =
            LockOptions.builder().leaseDuration(Duration.ofMinutes(1)).build();

    /** At most one of the two clients may be in it. */
    private final AtomicInteger inside = new AtomicInteger();

    private final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private Store store;
    private TcpProxy proxy;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        store = Store.start();
        proxy = TcpProxy.inFrontOf(store.server);
        client = client(RedisURI.create(proxy.host(), proxy.port()));
        rival = client(store.uri());
        await(client.lock("warm-up").withLock(Mono.just(1)));
        await(rival.lock("warm-up").withLock(Mono.just(1)));
        events.clear();
    }

    private LockClient client(RedisURI uri) {
        return LockClient.builder(RedisLockBackend.create(uri))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .operationTimeout(Duration.ofMillis(700))
                .listener(events::add)
                .build();
    }

    @AfterEach
    void nothingIsLeftInTheStore() {
        await(client.close());
        await(rival.close());
        assertThat(store.leftovers()).isEmpty();
        proxy.close();
        store.close();
    }

    static Stream<Named<Consumer<TcpProxy>>> cuts() {
        return Stream.of(
                Named.of("before the server gets it", proxy -> proxy.cutAfter(Direction.TO_SERVER, 0)),
                Named.of("in the request's first byte", proxy -> proxy.cutAfter(Direction.TO_SERVER, 1)),
                Named.of("in mid-request", proxy -> proxy.cutAfter(Direction.TO_SERVER, 60)),
                Named.of("after it ran, before the answer", proxy -> proxy.cutAfter(Direction.TO_CLIENT, 0)),
                Named.of("in mid-answer", proxy -> proxy.cutAfter(Direction.TO_CLIENT, 3)));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void anAcquireThatIsCutIsRepairedAndTheWorkIsDone(Consumer<TcpProxy> cut) {
        cut.accept(proxy);
        assertThat(await(guarded(client))).isEqualTo("done");
        assertThat(failedAttempts()).as("the cut happened").isPositive();
        assertThat(await(guarded(rival))).isEqualTo("done");
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void aSingleAttemptThatIsCutIsUndoneOrAnswered(Consumer<TcpProxy> cut) {
        cut.accept(proxy);
        LockLease lease = await(client.lock("orders").tryAcquire().onErrorComplete());
        if (lease != null) {
            await(lease.release());
        }
        LockLease next = await(rival.lock("orders").acquire());
        assertThat(next.isValid()).isTrue();
        await(next.release());
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void aRenewalThatIsCutIsSentAgainAndTheLeaseGoesOn(Consumer<TcpProxy> cut) {
        LockLease lease = await(client.lock("orders").acquire());
        CompletableFuture<LockLease> waiter = rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        cut.accept(proxy);

        eventually(() -> events.stream().anyMatch(LockEvent.RenewalFailed.class::isInstance)); // the cut happened
        Duration thatOnlyARenewalGives = LEASE.multipliedBy(3).dividedBy(4);
        eventually(() -> lease.remaining().compareTo(thatOnlyARenewalGives) > 0);

        assertThat(lease.isValid()).isTrue();
        assertThat(waiter).isNotDone();
        await(lease.release());
        await(waiter.join().release());
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void aReleaseThatIsCutIsSentAgainAndTheNextOneHasTheLockLongBeforeTheLeaseEnds(Consumer<TcpProxy> cut) {
        CompletableFuture<String> result = new CompletableFuture<>();
        CompletableFuture<LockLease> working = new CompletableFuture<>();
        CompletableFuture<String> done = client.lock("orders")
                .with(LONG)
                .withLock(lease -> {
                    working.complete(lease);
                    return Mono.fromFuture(result);
                })
                .toFuture();
        await(Mono.fromFuture(working));
        CompletableFuture<LockLease> waiter = rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        cut.accept(proxy);
        result.complete("done");

        await(await(Mono.fromFuture(waiter)).release());
        assertThat(await(Mono.fromFuture(done)))
                .as("an answer that the claim is not held means released")
                .isEqualTo("done");
        assertThat(events).noneMatch(LockEvent.Lost.class::isInstance);
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void anAttemptThatQueuesAndIsCutIsServedInItsTurn(Consumer<TcpProxy> cut) {
        LockLease held = await(rival.lock("orders").acquire());
        cut.accept(proxy);
        CompletableFuture<LockLease> waiter = client.lock("orders").acquire().toFuture();
        eventually(() -> failedAttempts() > 0 && waiting() == 1);
        assertThat(waiter).isNotDone();

        await(held.release());

        LockLease served = await(Mono.fromFuture(waiter));
        assertThat(served.fencingToken()).isGreaterThan(held.fencingToken());
        await(served.release());
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void aWaiterThatGivesUpWhileItsAttemptIsCutLeavesNoPlaceInTheQueue(Consumer<TcpProxy> cut) {
        LockLease held = await(rival.lock("orders").acquire());
        cut.accept(proxy);
        LockOptions impatient = LockOptions.builder()
                .leaseDuration(LEASE)
                .waitTimeout(Duration.ofMillis(300))
                .build();
        Mono<LockLease> gone = client.lock("orders").with(impatient).acquire();
        assertThat(gone.toFuture()).failsWithin(Duration.ofSeconds(10));
        eventually(() -> waiting() == 0);
        await(held.release());
        await(guarded(rival));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void underContentionNeverTwoHoldWhileConnectionsAreCut(Consumer<TcpProxy> cut) {
        for (int round = 0; round < 5; round++) {
            cut.accept(proxy);
            List<Mono<String>> all = Stream.<Supplier<Mono<String>>>of(
                            () -> guarded(client), () -> guarded(rival), () -> guarded(client), () -> guarded(rival))
                    .map(Supplier::get)
                    .toList();
            assertThat(await(Flux.merge(all).collectList()))
                    .containsOnly("done")
                    .hasSize(4);
        }
    }

    private Mono<String> guarded(LockClient by) {
        Mono<String> work = Mono.fromSupplier(inside::incrementAndGet)
                .delayElement(Duration.ofMillis(5))
                .doOnNext(holders -> inside.decrementAndGet())
                .map(holders -> holders == 1 ? "done" : "together with another");
        return by.lock("orders").withLock(work);
    }

    private long failedAttempts() {
        return events.stream().filter(LockEvent.AttemptFailed.class::isInstance).count();
    }

    private long waiting() {
        return Store.waiting(store.redis(), Store.holderKey("orders"));
    }
}
