package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The contract of a back end, when locks are handed over inside each process. */
class RedisHandOverContractIT implements LockBackendContract {

    /** Short, since the contract waits for it with a real clock. */
    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;
    private static LockBackend handsOver;
    private static LockBackend anotherHandsOver;

    private final FurtherClients clients = new FurtherClients();
    private final Map<LockBackend, Network> networks = new HashMap<>();

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        another = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        handsOver = LocalHandOver.over(backend);
        anotherHandsOver = LocalHandOver.over(another);
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        store.close();
    }

    @Override
    public LockBackend backend() {
        return handsOver;
    }

    /** Inside a process, a claim waits behind those that came before it, watched or not. */
    @Override
    public Set<String> openPoints() {
        return Set.of("newcomerPassesAWaiterWithoutAWatch");
    }

    @Override
    public LockBackend anotherClient() {
        return anotherHandsOver;
    }

    @Override
    public LockBackend newClient() {
        Network network = new Network(
                clients.add(RedisLockBackend.builder(store.uri())
                        .claimTime(CLAIM_TIME)
                        .build()),
                new AtomicBoolean());
        LockBackend client = LocalHandOver.over(network);
        networks.put(client, network);
        return client;
    }

    /** A process that hangs sends nothing: otherwise, the hand-over itself would confirm the grant. */
    @Override
    public void vanish(LockBackend client) {
        requireNonNull(networks.get(client)).isCut().set(true);
    }

    /** The process gets the grant, not one of its claims. So it is the process that misses one here. */
    @Test
    @Override
    public void clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain() {
        String name = "missed by a process";
        LockBackend process = newClient();
        LockClient missing = clientOf(process);
        LockClient holding = clientOf(backend());
        LockClient living = clientOf(anotherClient());
        LockLease holder = await(holding.lock(name).acquire());
        CompletableFuture<LockLease> first = missing.lock(name).acquire().toFuture();
        waiting(name, 1);
        CompletableFuture<LockLease> second = missing.lock(name).acquire().toFuture();
        CompletableFuture<LockLease> next = living.lock(name).acquire().toFuture();
        waiting(name, 2);
        eventually(() -> store.redis().pubsubChannels().size() >= 2);
        vanish(process);
        await(holder.release());
        LockLease served = next.orTimeout(vanishedClientBound(1).toMillis(), TimeUnit.MILLISECONDS)
                .join();

        requireNonNull(networks.get(process)).isCut().set(false);
        waiting(name, 1);
        await(served.release());

        LockLease its = first.orTimeout(10, TimeUnit.SECONDS).join();
        assertThat(its.fencingToken()).isGreaterThan(served.fencingToken());
        await(its.release());
        await(second.orTimeout(10, TimeUnit.SECONDS).join().release());
        Stream.of(missing, holding, living).forEach(client -> await(client.close()));
    }

    private static LockClient clientOf(LockBackend process) {
        return LockClient.builder(process).closeBackend(false).build();
    }

    /** Waits until so many processes wait at the server. */
    private static void waiting(String name, int processes) {
        eventually(() -> Store.waiting(store.redis(), Store.holderKey(name)) == processes);
    }

    /** The network between a process and the server. If it is cut, only releases arrive. */
    private record Network(LockBackend delegate, AtomicBoolean isCut) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> isCut.get() ? Mono.never() : delegate.tryAcquire(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return Mono.defer(() -> isCut.get() ? Mono.never() : delegate.renew(claim));
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim).filter(signal -> !isCut.get());
        }
    }

    @AfterEach
    void endFurtherClients() {
        clients.close();
        networks.clear();
    }

    @Override
    public Duration claimTime() {
        return CLAIM_TIME;
    }

    /** Sleeps: the time of a real server cannot be set. */
    @Override
    public void passTime(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Collection<String> leftovers() {
        Stream<String> keys = store.leftovers().stream();
        Stream<String> watches = Stream.of(backend, another)
                .filter(it -> it.operations().watchCount() > 0)
                .map(it -> it.operations().watchCount() + " watches");
        return Stream.of(keys, watches).flatMap(it -> it).toList();
    }
}
