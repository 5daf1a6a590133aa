package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A server that does not answer for a while, as with a disk that hangs. Its connections stay open. */
class EtcdFrozenIT {

    private static final Duration LEASE = Duration.ofSeconds(4);

    private static EtcdStore store;
    private static LockClient locks;
    private static LockClient others;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        locks = client();
        others = client();
    }

    private static LockClient client() {
        return LockClient.builder(EtcdLockBackend.over(store.client()))
                .options(LockOptions.builder().leaseDuration(LEASE).build())
                .build();
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(Mono.when(locks.close(), others.close()).thenReturn(true));
            store.close();
        }
    }

    @Test
    void holderKeepsItsLockWhenTheServerIsSilentForLessThanItsLease() {
        LockLease holder = Waiting.forMono(locks.lock("brief").acquire());
        CompletableFuture<LockLease> waiting = others.lock("brief").acquire().toFuture();
        store.server().pause();
        Waiting.pass(LEASE.dividedBy(3));
        store.server().resume();
        Waiting.forMono(holder.renew().thenReturn(true).retry(3));
        assertThat(holder.isValid()).isTrue();
        assertThat(waiting).isNotDone();
        Waiting.forMono(holder.release().thenReturn(true));
        assertThat(waiting)
                .succeedsWithin(Waiting.PATIENCE)
                .satisfies(next -> Waiting.forMono(next.release().thenReturn(true)));
    }

    @Test
    void inspectorFailsInBoundedTime() {
        LockInspector inspector = EtcdLockBackend.builder(store.client())
                .answerLimit(Duration.ofMillis(100))
                .inspector();
        LockHolder holder = new LockHolder("f00d", LockKind.MUTEX, 1, 1, Optional.empty(), Optional.empty(), Map.of());
        store.server().pause();
        try {
            assertThat(List.<Mono<?>>of(
                            inspector.all().collectList(),
                            inspector.inspect("brief").collectList(),
                            inspector.breakHold("brief", holder)))
                    .allSatisfy(request -> assertThatThrownBy(() -> Waiting.forMono(request))
                            .isInstanceOf(LockBackendException.class)
                            .hasMessageContaining("it gave no answer in time"));
        } finally {
            store.server().resume();
            Waiting.forMono(inspector.close().thenReturn(true));
        }
    }

    @Test
    void holderLosesItsLockInTimeWhenTheServerIsSilentForLonger() {
        LockLease holder = Waiting.forMono(locks.lock("long").acquire());
        CompletableFuture<LossReason> loss = holder.onLoss().toFuture();
        CompletableFuture<LockLease> waiting =
                others.lock("long").acquire().retry(20).toFuture();
        store.server().pause();
        assertThat(loss).succeedsWithin(LEASE.plusSeconds(1)).isEqualTo(LossReason.EXPIRED);
        assertThat(waiting).isNotDone();
        store.server().resume();
        assertThat(waiting).succeedsWithin(Waiting.PATIENCE).satisfies(next -> {
            assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
            Waiting.forMono(next.release().thenReturn(true));
        });
    }
}
