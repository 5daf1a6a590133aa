package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Operations that are due together are one call at the server, and each behaves as if it was alone. */
class JoinedCallsIT {

    private static final int MANY = 256;

    private Store store;
    private RedisLockBackend backend;

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
        LockClaim first = Store.claim("warm-up");
        Store.answer(backend.tryAcquire(first));
        Store.answer(backend.release(first));
        String reset = store.redis().configResetstat();
        assertThat(reset).isEqualTo("OK");
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        store.close();
    }

    private static List<LockClaim> claims(Waiting waiting) {
        return IntStream.range(0, MANY)
                .mapToObj(n -> Store.claim("lock " + n, waiting))
                .toList();
    }

    private <T> List<T> all(List<LockClaim> claims, Function<LockClaim, Mono<T>> operation) {
        return Store.answer(
                Flux.fromIterable(claims).flatMapSequential(operation, MANY).collectList());
    }

    @Test
    void manyOperationsAreFewCalls() {
        List<LockClaim> claims = claims(Waiting.NONE);

        assertThat(all(claims, backend::tryAcquire)).hasOnlyElementsOfType(LockAttempt.Acquired.class);
        assertThat(all(claims, backend::release)).containsOnly(Ownership.HELD);

        assertThat(store.calls("evalsha")).isLessThan(2 * MANY / 4);
        assertThat(store.leftovers()).isEmpty();
        assertThat(store.keys()).hasSize(MANY + 1);
    }

    @Test
    void foreignKeysAndHeldLocksConcernTheirOwnClaimsOnly() {
        store.redis().set(Store.holderKey("lock 3"), "theirs");
        store.redis().lpush(Store.holderKey("lock 5"), "theirs");
        Store.answer(backend.tryAcquire(Store.claim("lock 7")));
        Store.answer(backend.tryAcquire(Store.claim("lock 9")));
        List<LockClaim> claims = claims(Waiting.QUEUE);

        List<Object> answers = all(
                claims, claim -> backend.tryAcquire(claim).<Object>map(it -> it).onErrorResume(Mono::just));

        for (int i = 0; i < MANY; i++) {
            Class<?> wanted = switch (i) {
                case 3, 5 -> LockBackendException.class;
                case 7, 9 -> LockAttempt.Queued.class;
                default -> LockAttempt.Acquired.class;
            };
            assertThat(answers.get(i)).as("lock %d", i).isInstanceOf(wanted);
        }
        assertThat((Throwable) answers.get(3))
                .hasMessageContaining("'lock 3'")
                .hasMessageContaining("holds a foreign value");
        assertThat((Throwable) answers.get(5))
                .hasMessageContaining("'lock 5'")
                .hasMessageContaining("holds a foreign value");
        assertThat(all(claims, backend::release))
                .filteredOn(Ownership.HELD::equals)
                .hasSize(MANY - 4);
    }

    @Test
    void onAFullServerLocksAreReleasedAndNoneIsTaken() {
        List<LockClaim> held = claims(Waiting.NONE);
        assertThat(all(held, backend::tryAcquire)).hasOnlyElementsOfType(LockAttempt.Acquired.class);
        assertThat(store.redis().configSet("maxmemory", "1")).isEqualTo("OK");

        List<LockClaim> others = IntStream.range(0, MANY)
                .mapToObj(n -> Store.claim("other " + n))
                .toList();
        List<Object> refused = all(
                others, claim -> backend.tryAcquire(claim).<Object>map(it -> it).onErrorResume(Mono::just));
        assertThat(refused).allSatisfy(error -> assertThat((Throwable) error).hasMessageContaining("memory is full"));
        assertThat(all(held, backend::release)).containsOnly(Ownership.HELD);
        assertThat(store.redis().configSet("maxmemory", "0")).isEqualTo("OK");
        assertThat(store.leftovers()).isEmpty();
    }

    /** The server checks only the first write of a call with several operations. */
    @Test
    void onAFullServerNoLockIsTakenNextToAReleaseEither() {
        List<LockClaim> held = claims(Waiting.NONE);
        assertThat(all(held, backend::tryAcquire)).hasOnlyElementsOfType(LockAttempt.Acquired.class);
        assertThat(store.redis().configSet("maxmemory", "1")).isEqualTo("OK");

        List<LockClaim> mixed = IntStream.range(0, 2 * MANY)
                .mapToObj(n -> n % 2 == 0 ? held.get(n / 2) : Store.claim("other " + n))
                .toList();
        List<Object> answers = Store.answer(Flux.fromIterable(mixed)
                .flatMapSequential(
                        claim -> (held.contains(claim) ? backend.release(claim) : backend.tryAcquire(claim))
                                .<Object>map(it -> it)
                                .onErrorResume(Mono::just),
                        2 * MANY)
                .collectList());

        assertThat(answers).filteredOn(Ownership.HELD::equals).hasSize(MANY);
        assertThat(answers)
                .filteredOn(Throwable.class::isInstance)
                .hasSize(MANY)
                .allSatisfy(error -> assertThat(((Throwable) error).getMessage())
                        .contains("memory is full")
                        .doesNotContain("\\r"));
    }

    @Test
    void aLockThatTheUserMayNotTouchConcernsNoOther() {
        store.user("limited", RedisErrorsIT.DOCUMENTED_ACL.replace("~holdfast:*", "~holdfast:{lock*"));
        RedisURI uri = RedisURI.Builder.redis(store.server.host(), store.server.port())
                .withAuthentication("limited", "of-the-test")
                .build();
        RedisLockBackend limited = RedisLockBackend.create(uri);
        LockClaim first = Store.claim("lock first");
        Store.answer(limited.tryAcquire(first));
        Store.answer(limited.release(first));
        List<LockClaim> held = claims(Waiting.NONE);
        assertThat(all(held, limited::tryAcquire)).hasOnlyElementsOfType(LockAttempt.Acquired.class);

        List<Object> answers = Store.answer(Flux.range(0, MANY)
                .flatMapSequential(
                        n -> (n % 16 == 7
                                        ? limited.tryAcquire(Store.claim("forbidden " + n))
                                        : limited.release(held.get(n)))
                                .<Object>map(it -> it)
                                .onErrorResume(Mono::just),
                        MANY)
                .collectList());

        assertThat(answers)
                .filteredOn(LockBackendException.class::isInstance)
                .hasSize(MANY / 16)
                .allSatisfy(error -> assertThat((Throwable) error)
                        .hasMessageContaining("'forbidden ")
                        .hasMessageContaining("the ACL forbids it"));
        assertThat(answers).filteredOn(Ownership.HELD::equals).hasSize(MANY - MANY / 16);
        Store.end(limited);
    }

    @Test
    void aCancelledOperationDoesNotDisturbTheOthers() {
        List<LockClaim> claims = claims(Waiting.NONE);
        store.server.pause();
        List<Mono<LockAttempt>> started = claims.stream()
                .map(claim -> Mono.fromFuture(backend.tryAcquire(claim).toFuture()))
                .toList();
        backend.tryAcquire(Store.claim("cancelled")).subscribe().dispose();
        store.server.resume();

        assertThat(Store.answer(Flux.fromIterable(started).flatMap(it -> it).collectList()))
                .hasSize(MANY)
                .hasOnlyElementsOfType(LockAttempt.Acquired.class);
    }
}
