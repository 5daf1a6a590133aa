package io.holdfast.redis;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.LockBackendContract;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The contract of a mutex, run with a write lock and with a semaphore of one: they have other scripts. */
class RedisSharedContractIT {

    private static final Duration CLAIM_TIME = Duration.ofMillis(500);

    private static Store store;
    private static RedisLockBackend backend;
    private static RedisLockBackend another;
    private static final FurtherClients CLIENTS = new FurtherClients();

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
        another = RedisLockBackend.builder(store.uri()).claimTime(CLAIM_TIME).build();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        CLIENTS.close();
        store.close();
    }

    @Nested
    class OfAWriteLock implements InPlaceOfAMutex {

        @Override
        public LockKind kind() {
            return LockKind.WRITE;
        }
    }

    @Nested
    class OfASemaphoreOfOne implements InPlaceOfAMutex {

        @Override
        public LockKind kind() {
            return LockKind.SEMAPHORE;
        }
    }

    interface InPlaceOfAMutex extends LockBackendContract {

        LockKind kind();

        @Override
        default LockBackend backend() {
            return new OfKind(backend, kind());
        }

        @Override
        default LockBackend anotherClient() {
            return new OfKind(another, kind());
        }

        @Override
        default LockBackend newClient() {
            return new OfKind(
                    CLIENTS.add(RedisLockBackend.builder(store.uri())
                            .claimTime(CLAIM_TIME)
                            .build()),
                    kind());
        }

        @Override
        default Duration claimTime() {
            return CLAIM_TIME;
        }

        @Override
        default void passTime(Duration time) {
            ClientOverRedis.pause(time);
        }

        @Override
        default Collection<String> leftovers() {
            Stream<String> keys = store.leftovers().stream();
            Stream<String> watches = Stream.of(backend, another)
                    .filter(it -> it.operations().watchCount() > 0)
                    .map(it -> it.operations().watchCount() + " watches");
            return Stream.concat(keys, watches).toList();
        }
    }

    private record OfKind(LockBackend delegate, LockKind kind) implements ForwardingLockBackend {

        private LockClaim of(LockClaim claim) {
            LockKey key = of(claim.key());
            return new LockClaim(
                    key,
                    claim.id(),
                    claim.lease(),
                    claim.waiting(),
                    claim.attempt(),
                    claim.tokenFloor(),
                    claim.permits(),
                    "");
        }

        /** Returns another name of the same length: the contract has the real lock of this kind under the first one. */
        private LockKey of(LockKey key) {
            return key.kind() == LockKind.MUTEX
                    ? LockKey.of(kind, key.name().replaceFirst("^contract/", "as-mutex/"))
                    : key;
        }

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(of(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(of(claim));
        }

        @Override
        public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
            return delegate.adopt(of(claim), fencingToken);
        }

        @Override
        public Mono<Ownership> release(LockClaim claim) {
            return delegate.release(of(claim));
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(of(claim));
        }

        private static LockHolder asOfAMutex(LockHolder it) {
            return new LockHolder(
                    it.claimId(), LockKind.MUTEX, 1, it.fencingToken(), it.held(), it.remaining(), it.details());
        }

        /** Only a mutex has runs. */
        @Override
        public Set<LockFeature> features() {
            return delegate.features().stream()
                    .filter(it -> it != LockFeature.RUNS)
                    .collect(Collectors.toUnmodifiableSet());
        }

        @Override
        public Flux<LockHolder> holders(LockKey key) {
            Flux<LockHolder> holders = delegate.holders(of(key));
            return key.kind() != LockKind.MUTEX ? holders : holders.map(OfKind::asOfAMutex);
        }

        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return delegate.renewAll(claims.stream().map(this::of).toList());
        }
    }
}
