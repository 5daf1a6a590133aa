package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** The connection is cut before the request of a step arrives, or after that and before its answer. */
class EtcdCutIT {

    private static final Retry SOON = Retry.fixedDelay(20, Duration.ofMillis(100));

    private static EtcdStore store;
    private static LockClient others;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        others = client(store.client());
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Waiting.forMono(others.close().thenReturn(true));
            store.close();
        }
    }

    private static LockClient client(Client client) {
        EtcdLockBackend backend =
                EtcdLockBackend.builder(client).presence(Duration.ofSeconds(20)).build();
        return LockClient.builder(backend)
                .options(LockOptions.builder()
                        .leaseDuration(Duration.ofSeconds(6))
                        .build())
                .build();
    }

    /** Each ends without a lock. */
    private enum Step {
        ACQUIRE {
            @Override
            void run(Cut cut) {
                cut.now();
                release(Waiting.forMono(cut.locks.lock(cut.name).acquire()));
            }
        },
        JOIN {
            @Override
            void run(Cut cut) {
                LockLease holder = Waiting.forMono(others.lock(cut.name).acquire());
                cut.now();
                CompletableFuture<LockLease> waiting =
                        cut.locks.lock(cut.name).acquire().toFuture();
                Waiting.until("a claim waits", () -> places(cut.name) == 2);
                release(holder);
                assertThat(waiting).succeedsWithin(Waiting.PATIENCE).satisfies(next -> {
                    assertThat(next.fencingToken()).isGreaterThan(holder.fencingToken());
                    release(next);
                });
            }
        },
        RENEWAL {
            @Override
            void run(Cut cut) {
                LockLease holder = Waiting.forMono(cut.locks.lock(cut.name).acquire());
                cut.now();
                Waiting.forMono(holder.renew().thenReturn(true).retryWhen(SOON));
                assertThat(holder.isValid()).isTrue();
                assertThat(Waiting.forMono(others.lock(cut.name).tryAcquire().hasElement()))
                        .isFalse();
                release(holder);
            }
        },
        DOWNGRADE {
            @Override
            void run(Cut cut) {
                LockLease writer = Waiting.forMono(
                        cut.locks.readWriteLock(cut.name).writeLock().acquire());
                cut.now();
                LockLease reader = Waiting.forMono(writer.downgrade());
                assertThat(reader.fencingToken()).isEqualTo(writer.fencingToken());
                LockLease beside = Waiting.forMono(
                        others.readWriteLock(cut.name).readLock().acquire());
                release(beside);
                release(reader);
            }
        },
        RELEASE {
            @Override
            void run(Cut cut) {
                LockLease holder = Waiting.forMono(cut.locks.lock(cut.name).acquire());
                cut.now();
                Waiting.forMono(holder.release().thenReturn(true).onErrorReturn(true));
            }
        },
        BREAK {
            @Override
            void run(Cut cut) {
                LockLease holder = Waiting.forMono(others.lock(cut.name).acquire());
                var seen = Waiting.forMono(cut.inspector
                        .inspect(cut.name)
                        .flatMapIterable(it -> it.holders())
                        .single());
                cut.now();
                Waiting.forMono(cut.inspector.breakHold(cut.name, seen).retryWhen(SOON));
                assertThat(holder.onLoss().toFuture()).succeedsWithin(Waiting.PATIENCE);
            }
        };

        abstract void run(Cut cut);
    }

    private record Cut(String name, TcpProxy proxy, Direction direction, LockClient locks, LockInspector inspector) {

        /** Resets the connection at the next byte in this direction. */
        void now() {
            proxy.cutAfter(direction, 0);
        }
    }

    static Stream<Arguments> cuts() {
        return Arrays.stream(Step.values())
                .flatMap(step -> Arrays.stream(Direction.values()).map(direction -> Arguments.of(step, direction)));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void stepWhoseConnectionIsCutEndsWellAndLeavesNothing(Step step, Direction direction) {
        String name = step + "/" + direction;
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port())) {
            Client client = store.client("http://" + proxy.host() + ':' + proxy.port());
            LockClient locks = client(client);
            LockInspector inspector = EtcdLockBackend.builder(client).inspector();
            release(Waiting.forMono(locks.lock(name + "/before").acquire())); // connected, and its leases are granted
            step.run(new Cut(name, proxy, direction, locks, inspector));
            release(Waiting.forMono(others.lock(name).acquire()));
            Waiting.until("nothing is left", () -> places(name) == 0);
            Waiting.forMono(Mono.when(locks.close(), inspector.close()).thenReturn(true));
        }
    }

    /** As when a member stops. The driver says that the network was closed. */
    @Test
    void waiterWhoseConnectionEndsInOrderGoesOnWaiting() {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port())) {
            LockClient locks = client(store.client("http://" + proxy.host() + ':' + proxy.port()));
            release(Waiting.forMono(locks.lock("finish/before").acquire()));
            LockLease holder = Waiting.forMono(others.lock("finish").acquire());
            proxy.delay(Direction.TO_CLIENT, Duration.ofHours(1));
            CompletableFuture<LockLease> waiting =
                    locks.lock("finish").acquire().toFuture();
            Waiting.until("a claim waits", () -> places("finish") == 2);
            proxy.finish();
            proxy.pass();
            release(holder);
            assertThat(waiting).succeedsWithin(Waiting.PATIENCE).satisfies(EtcdCutIT::release);
            Waiting.forMono(locks.close().thenReturn(true));
        }
    }

    private static void release(LockLease lease) {
        Waiting.forMono(lease.release().thenReturn(true).onErrorReturn(true));
    }

    private static long places(String name) {
        String part = "/" + Layout.encode(name) + "/";
        return store.claims().stream().filter(it -> it.contains(part)).count();
    }
}
