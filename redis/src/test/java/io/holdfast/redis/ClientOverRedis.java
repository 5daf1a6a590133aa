package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Mono;

/**
 * A real server, and two clients of it that share nothing. After each test both are closed, and only expiring counters
 * may be left.
 */
public final class ClientOverRedis implements BeforeEachCallback, AfterEachCallback {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final LockOptions options;
    final List<LockEvent> events = new CopyOnWriteArrayList<>();
    private final List<LockClient> dead = new CopyOnWriteArrayList<>();

    Store store;
    LockClient client;
    LockClient rival;

    ClientOverRedis() {
        this(UnaryOperator.identity());
    }

    ClientOverRedis(UnaryOperator<LockOptions.Builder> settings) {
        options = settings.apply(LockOptions.builder()).build();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        store = Store.start();
        client = newClient();
        rival = newClient();
    }

    /** Replaces the clients by others with this claim time. */
    void claimTime(Duration claimTime) {
        await(client.close());
        await(rival.close());
        client = newClient(backend(claimTime));
        rival = newClient(backend(claimTime));
    }

    private RedisLockBackend backend(Duration claimTime) {
        return RedisLockBackend.builder(store.uri()).claimTime(claimTime).build();
    }

    LockClient newClient() {
        return newClient(store.backend());
    }

    private LockClient newClient(RedisLockBackend backend) {
        return LockClient.builder(backend)
                .options(options)
                .listener(events::add)
                .build();
    }

    @CanIgnoreReturnValue
    static <T> T await(Mono<T> mono) {
        return Store.answer(mono);
    }

    LockLease acquired(LockClient by, String name) {
        return await(by.lock(name).acquire());
    }

    /** Lets a client die with a lease in hand: it renews and releases no more, and the server keeps its lock. */
    void dieHolding(Function<LockClient, Mono<LockLease>> acquire) {
        RedisLockBackend backend = store.backend();
        LockClient dying = dying(backend);
        await(acquire.apply(dying));
        Store.end(backend);
    }

    /** Lets a client die while it waits. */
    void dieWaiting(Function<LockClient, Mono<LockLease>> acquire, Runnable beforeItDies) {
        RedisLockBackend backend = store.backend();
        acquire.apply(dying(backend)).subscribe(lease -> {}, error -> {});
        beforeItDies.run();
        Store.end(backend);
    }

    private LockClient dying(RedisLockBackend backend) {
        LockClient dying = newClient(backend);
        dead.add(dying);
        return dying;
    }

    /** Checks again and again, since there is no event to wait for: the state of a real server is the subject. */
    public static void eventually(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("patience").isNegative();
            pause(Duration.ofMillis(5));
        }
    }

    /** Waits until so many clients listen, or more. The server passes over the waiters of a client that does not listen yet. */
    void eventuallyListening(int clients) {
        eventually(() -> store.redis().pubsubChannels().size() >= clients);
    }

    /** Waits until this client acquires, holds, renews and releases nothing any more, and no timer runs. */
    void eventuallyIdle() {
        eventually(() -> client.toString().contains("0 acquiring, 0 held, 0 releasing, 0 alarms"));
    }

    static void pause(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    List<String> keysButCounters() {
        Set<String> left = Set.copyOf(store.leftovers());
        return store.keys().stream()
                .filter(key -> key.contains(":gone") || left.contains(key))
                .toList();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        await(client.close());
        await(rival.close());
        dead.forEach(it -> await(it.close()));
        assertThat(keysButCounters()).allMatch(key -> key.contains(":gone"));
        store.close();
    }
}
