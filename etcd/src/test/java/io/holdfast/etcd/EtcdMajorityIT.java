package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.testkit.server.EtcdServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Three members that lose their majority, for less and for more than a lease. */
class EtcdMajorityIT {

    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final Retry SOON = Retry.fixedDelay(60, Duration.ofMillis(250));

    private static EtcdStore store;
    private static LockClient locks;
    private static LockClient others;

    @BeforeAll
    static void start() {
        store = EtcdStore.startThree();
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

    private static void freeze() {
        store.members().subList(1, 3).forEach(EtcdServer::pause);
    }

    private static void wake() {
        store.members().subList(1, 3).forEach(EtcdServer::resume);
    }

    private static LockLease held(String name) {
        LockLease holder = Waiting.forMono(locks.lock(name).acquire().retryWhen(SOON));
        Waiting.forMono(holder.renew().thenReturn(true).retryWhen(SOON)); // on the lease of a holder
        return holder;
    }

    @Test
    void holderKeepsItsLockWhileTheMajorityIsAwayForLessThanItsLease() {
        LockLease holder = held("brief");
        freeze();
        Waiting.pass(LEASE.dividedBy(3));
        wake();
        Waiting.forMono(holder.renew().thenReturn(true).retryWhen(SOON));
        assertThat(holder.isValid()).isTrue();
        assertThat(Waiting.forMono(
                        others.lock("brief").tryAcquire().hasElement().retryWhen(SOON)))
                .isFalse();
        Waiting.forMono(holder.release().thenReturn(true));
    }

    /** A loss or an acquisition, and when it came. */
    private record Event(Object what, long nanos) {
        Event(Object what) {
            this(what, System.nanoTime());
        }
    }

    @Test
    void holderLosesItsLockBeforeAnotherHasItWhenTheMajorityIsAwayForLonger() {
        LockLease holder = held("long");
        CompletableFuture<Event> lost = holder.onLoss().map(Event::new).toFuture();
        CompletableFuture<Event> taken = others.lock("long")
                .acquire()
                .retryWhen(SOON)
                .flatMap(next -> next.release().thenReturn(new Event(next.fencingToken())))
                .toFuture();
        freeze();
        assertThat(lost).succeedsWithin(LEASE.plusSeconds(1));
        assertThat(lost.join().what()).isEqualTo(LossReason.EXPIRED);
        assertThat(taken).isNotDone();
        wake();
        assertThat(taken).succeedsWithin(Waiting.PATIENCE);
        assertThat(taken.join().nanos()).isGreaterThan(lost.join().nanos());
        assertThat((long) taken.join().what()).isGreaterThan(holder.fencingToken());
    }
}
