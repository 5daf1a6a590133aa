package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockReport;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** A later version of the library has its place in a line. This version does not know by which rules that place holds. */
class EtcdNewerFormIT {

    private static final String ADVICE = "a newer version of this library has written the lock: upgrade this client";
    private static final ByteSequence VALUE = EtcdStore.bytes("2 of another form");

    private static EtcdStore store;
    private static EtcdLockBackend backend;

    private final String name = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        backend = EtcdLockBackend.over(store.client());
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(backend.close().thenReturn(true));
            store.close();
        }
    }

    private record Case(LockKind kind, io.holdfast.spi.Waiting waiting) {}

    private static Stream<Case> everyAttempt() {
        return Stream.of(LockKind.values())
                .flatMap(kind -> Stream.of(io.holdfast.spi.Waiting.values()).map(waiting -> new Case(kind, waiting)));
    }

    private LockClaim claim(Case attempt) {
        LockKey key = new LockKey(attempt.kind(), name, attempt.kind() == LockKind.SEMAPHORE ? 3 : 1);
        return LockClaim.first(key, UUID.randomUUID().toString(), Duration.ofSeconds(10), attempt.waiting());
    }

    private List<String> keys(LockKind kind) {
        String group = switch (kind) {
            case MUTEX -> "mutex";
            case READ, WRITE -> "rw";
            case SEMAPHORE -> "semaphore";
        };
        String place = group + '/' + name + "/f00d.1";
        return group.equals("rw")
                ? List.of("holdfast/line/" + place, "holdfast/mark/" + place)
                : List.of("holdfast/line/" + place);
    }

    private void putNewer(LockKind kind) {
        keys(kind)
                .forEach(key -> Waiting.forMono(
                        Mono.fromFuture(store.eye().getKVClient().put(EtcdStore.bytes(key), VALUE))));
    }

    @AfterEach
    void delete() {
        Stream.of(LockKind.values())
                .flatMap(kind -> keys(kind).stream())
                .forEach(key -> Waiting.forMono(
                        Mono.fromFuture(store.eye().getKVClient().delete(EtcdStore.bytes(key)))));
        assertThat(store.claims()).isEmpty();
    }

    private static void assertRefused(Mono<?> request) {
        assertThatThrownBy(() -> Waiting.forMono(request))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        failed -> assertThat(failed.isTransient()).isFalse())
                .hasMessageContaining(ADVICE);
    }

    @ParameterizedTest
    @MethodSource("everyAttempt")
    void noAttemptPassesAPlaceOfANewerFormUntilItIsDeleted(Case attempt) {
        LockClaim claim = claim(attempt);
        putNewer(attempt.kind());

        assertRefused(backend.tryAcquire(claim));

        assertThat(Waiting.forMono(backend.release(claim))).isEqualTo(Ownership.NOT_HELD);
        assertThat(store.claims()).containsExactlyElementsOf(keys(attempt.kind()));

        delete();
        LockClaim next = claim(attempt);
        assertThat(Waiting.forMono(backend.tryAcquire(next))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Waiting.forMono(backend.release(next))).isEqualTo(Ownership.HELD);
    }

    @Test
    void aHolderKeepsTheLockAndAWaiterThatComesToTheFrontDoesNotPass() {
        LockClient locks = LockClient.builder(backend).closeBackend(false).build();
        LockLease holder = Waiting.forMono(locks.lock(name).acquire());
        putNewer(LockKind.MUTEX);
        CompletableFuture<LockLease> waiter = LockClient.builder(backend)
                .closeBackend(false)
                .build()
                .lock(name)
                .acquire()
                .toFuture();

        Waiting.forMono(holder.renew().thenReturn(true));
        assertThat(holder.isValid()).isTrue();
        Waiting.forMono(holder.release().thenReturn(true));

        assertRefused(Mono.fromFuture(waiter));
        Waiting.until("it has left", () -> store.claims().size() == 1);
    }

    @Test
    void inspectorNamesIt() {
        String other = "held-" + name;
        LockClient locks = LockClient.builder(backend).closeBackend(false).build();
        LockLease holder = Waiting.forMono(locks.lock(other).acquire());
        putNewer(LockKind.MUTEX);
        Waiting.forMono(
                Mono.fromFuture(store.eye().getKVClient().put(EtcdStore.bytes("holdfast/line/of no lock"), VALUE)));
        LockInspector inspector = EtcdLockBackend.builder(store.client()).inspector();

        List<LockReport> all = Waiting.forMono(inspector.all().collectList());
        List<LockReport> one = Waiting.forMono(inspector.inspect(name).collectList());

        assertThat(all).extracting(LockReport::name).containsExactlyInAnyOrder(name, other);
        assertThat(all)
                .filteredOn(it -> it.name().equals(other))
                .singleElement()
                .matches(LockReport::isHeld);
        assertThat(all).filteredOn(it -> it.name().equals(name)).isEqualTo(one);
        assertThat(one).singleElement().satisfies(report -> {
            assertThat(report.type()).isEqualTo(LockReport.Type.MUTEX);
            assertThat(report.warnings()).singleElement().asString().contains(ADVICE);
        });
        LockHolder unknown = new LockHolder("f00d", LockKind.MUTEX, 1, 1, Optional.empty(), Optional.empty(), Map.of());
        assertRefused(inspector.breakHold(name, unknown));
        assertRefused(backend.holders(LockKey.of(LockKind.MUTEX, name)).collectList());

        Waiting.forMono(holder.release().thenReturn(true));
        Waiting.forMono(Mono.fromFuture(store.eye().getKVClient().delete(EtcdStore.bytes("holdfast/line/of no lock"))));
        Waiting.forMono(inspector.close().thenReturn(true));
    }
}
