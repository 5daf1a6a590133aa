package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.blockhound.BlockingOperationError;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Start, end, and the threads in between. BlockHound watches all of it. */
class RedisLifecycleIT {

    private Store store;

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        store.close();
    }

    @Test
    void aThreadThatMustNotBlockIsCaughtBlocking() {
        Mono<Void> sleeping = Mono.fromRunnable(() -> {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });

        assertThatThrownBy(() -> sleeping.subscribeOn(Schedulers.parallel()).block(Duration.ofSeconds(10)))
                .hasCauseInstanceOf(BlockingOperationError.class);
    }

    @Test
    void closeLeavesNoThreadAndNoConnection() throws InterruptedException {
        List<Thread> before = driverThreads();
        long connections = store.clients();
        RedisLockBackend backend = store.backend();
        waitingPair(backend);
        assertThat(store.clients()).isEqualTo(connections + 1);
        Store.end(backend);
        List<Thread> left = driverThreads();
        left.removeAll(before);
        for (Thread thread : left) {
            thread.join(5_000);
        }
        assertThat(left).noneMatch(Thread::isAlive);
        ClientOverRedis.eventually(() -> store.clients() == connections);
    }

    @Test
    void closingBeginsWithTheCallAndNotWithTheSubscription() {
        long connections = store.clients();
        RedisLockBackend backend = used(store.backend());
        RedisLockInspector inspector = RedisLockBackend.builder(store.uri()).inspector();
        assertThat(Store.answer(inspector.servers().count())).isOne();

        Mono<Void> ignored = backend.close().mergeWith(inspector.close()).then();

        ClientOverRedis.eventually(() -> store.clients() == connections);
        assertThat(ignored.toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void sharedResourcesOutliveTheBackend() {
        ClientResources shared = DefaultClientResources.create();
        Store.end(used(RedisLockBackend.builder(store.uri()).resources(shared).build()));
        RedisLockBackend second =
                used(RedisLockBackend.builder(store.uri()).resources(shared).build());
        Store.end(second);
        assertThat(shared.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5_000))
                .isTrue();
    }

    @Test
    void theCallersAdditionsToConnectionsAreKept() {
        AtomicInteger bootstraps = new AtomicInteger();
        List<String> firstHandlers = new CopyOnWriteArrayList<>();
        ClientResources shared = DefaultClientResources.builder()
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterBootstrapInitialized(Bootstrap bootstrap) {
                        bootstraps.incrementAndGet();
                    }

                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        channel.pipeline().addFirst("theirs", new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext context) {
                                firstHandlers.add(
                                        context.pipeline().first().getClass().getSimpleName());
                                context.fireChannelActive();
                            }
                        });
                    }
                })
                .build();
        Store.end(used(RedisLockBackend.builder(store.uri()).resources(shared).build()));
        assertThat(bootstraps).hasPositiveValue();
        assertThat(firstHandlers).isNotEmpty().containsOnly("FlushConsolidationHandler");
        assertThat(shared.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(5_000))
                .isTrue();
    }

    @Test
    void backendThatWasNeverUsedClosesToo() {
        RedisLockBackend unused = store.backend();
        Store.end(unused);
        assertThat(unused.operations().watchCount()).isZero();
    }

    @Test
    void firstUseOnAnEventLoopDoesNotBlockIt() {
        RedisLockBackend backend = store.backend();
        LockClaim claim = Store.claim("orders", Waiting.QUEUE);
        Mono<Ownership> cycle = backend.tryAcquire(claim)
                .then(backend.renew(claim))
                .then(backend.tryAcquire(Store.claim("orders", Waiting.QUEUE)))
                .then(backend.ping())
                .then(backend.release(claim))
                .subscribeOn(Schedulers.parallel());
        assertThat(Store.answer(cycle)).isEqualTo(Ownership.HELD);
        Mono<Void> close = Mono.defer(backend::close).subscribeOn(Schedulers.parallel());
        assertThat(close.toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void attemptCancelledBeforeTheConnectionIsMadeIsNotSent() {
        RedisLockBackend backend = store.backend();
        backend.tryAcquire(Store.claim("orders")).subscribe().dispose();
        assertThat(backend.ping().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(store.calls("eval") + store.calls("evalsha")).isZero();
        assertThat(store.keys()).isEmpty();
        Store.end(backend);
    }

    @Test
    void manyFirstCommandsShareOneConnection() {
        RedisLockBackend backend = store.backend();
        long before = store.clients();
        Long acquired = Store.answer(Flux.range(0, 100)
                .flatMap(i -> backend.tryAcquire(Store.claim("lock-" + i)).subscribeOn(Schedulers.parallel()))
                .filter(LockAttempt.Acquired.class::isInstance)
                .count());
        assertThat(acquired).isEqualTo(100);
        assertThat(store.clients()).isEqualTo(before + 1);
        Store.end(backend);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "{a}", "a}", "\n"})
    void prefixThatWouldBreakKeysIsRefused(String prefix) {
        assertThatThrownBy(() -> RedisLockBackend.builder(store.uri()).keyPrefix(prefix))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("keyPrefix")
                .hasMessageContaining(prefix);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 60_001})
    void claimTimeOutOfRangeIsRefused(long millis) {
        assertThatThrownBy(() -> RedisLockBackend.builder(store.uri()).claimTime(Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("claimTime");
    }

    @ParameterizedTest
    @CsvSource({"0, PT1S", "1, PT0S", "1, PT0.0005S", "1, PT61S"})
    void confirmationOutOfRangeIsRefused(int replicas, Duration within) {
        assertThatThrownBy(() -> RedisLockBackend.builder(store.uri()).confirmGrants(replicas, within))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sentinelsWithoutTheNameOfTheirMasterAreRefused() {
        RedisURI sentinel = RedisURI.Builder.sentinel("localhost").build();
        assertThatThrownBy(() -> RedisLockBackend.builder(sentinel))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sentinelMasterId");
    }

    private static void waitingPair(RedisLockBackend backend) throws InterruptedException {
        BlockingQueue<WatchSignal> signals = new LinkedBlockingQueue<>();
        LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
        Disposable watch = backend.watch(waiter).subscribe(signals::add);
        Store.answer(backend.tryAcquire(Store.claim("orders")));
        Store.answer(backend.tryAcquire(waiter));
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isInstanceOf(WatchSignal.Armed.class);
        watch.dispose();
    }

    private static RedisLockBackend used(RedisLockBackend backend) {
        LockClaim claim = Store.claim("orders");
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
        return backend;
    }

    private static List<Thread> driverThreads() {
        return new ArrayList<>(Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lettuce-")
                        || thread.getName().startsWith("holdfast-redis"))
                .toList());
    }
}
