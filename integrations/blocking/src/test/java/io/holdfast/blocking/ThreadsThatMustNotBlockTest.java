package io.holdfast.blocking;

import static io.holdfast.blocking.Store.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.testkit.LeftoversExtension;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.vertx.core.Vertx;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class ThreadsThatMustNotBlockTest {

    private final Store store = new Store();
    private final BlockingLock lock = store.locks.lock("a");

    @RegisterExtension
    final LeftoversExtension leftovers = new LeftoversExtension().watch("store", store.backend::contents);

    private String call() {
        assertThatThrownBy(lock::acquire).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> store.locks.all(lock).acquire()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> lock.withLock(lease -> "work"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("must not block")
                .hasMessageContaining("'a'");
        return "refused";
    }

    private String work() throws Exception {
        return lock.withLock(lease -> "work");
    }

    @Test
    void aThreadOfReactorIsRefused() {
        assertThat(Mono.fromCallable(this::call)
                        .subscribeOn(Schedulers.parallel())
                        .block(LIMIT))
                .isEqualTo("refused");
        assertThat(Mono.fromCallable(this::work)
                        .subscribeOn(Schedulers.boundedElastic())
                        .block(LIMIT))
                .isEqualTo("work");
    }

    @Test
    void anEventLoopOfNettyIsRefusedAndAnExecutorForHandlersThatBlockIsNot() throws Exception {
        assertThat(on(new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()), this::call))
                .isEqualTo("refused");
        assertThat(on(new DefaultEventExecutorGroup(1, Thread::new), this::work))
                .isEqualTo("work");
    }

    private static String on(EventExecutorGroup group, Callable<String> code) throws Exception {
        try {
            return group.submit(code).get(10, TimeUnit.SECONDS);
        } finally {
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void anEventLoopOfVertxIsRefusedAndAWorkerIsNot() throws Exception {
        Vertx vertx = Vertx.vertx();
        CompletableFuture<String> loop = new CompletableFuture<>();
        vertx.runOnContext(start -> loop.complete(call()));
        assertThat(loop.get(10, TimeUnit.SECONDS)).isEqualTo("refused");
        assertThat(vertx.executeBlocking(this::work)
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS))
                .isEqualTo("work");
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    /** Otherwise the lock would stay held. */
    @Test
    void aLeaseThatIsClosedThereIsReleasedWithoutAWait() throws Exception {
        BlockingLease held = lock.acquire();
        Mono.fromRunnable(held::close).subscribeOn(Schedulers.parallel()).block(LIMIT);
        lock.acquire().close();
        assertThat(store.isHeld("a")).isFalse();
    }
}
