package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.LocalHandOver;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
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

    @Override
    public Set<String> openPoints() {
        return RedisOpenPoints.OF_LOCAL_HAND_OVER;
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
