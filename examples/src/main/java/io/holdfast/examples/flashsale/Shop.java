package io.holdfast.examples.flashsale;

import io.holdfast.LocalHandOver;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockBackend;
import io.lettuce.core.LMoveArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.resource.ClientResources;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One shop: a JVM that serves buyers, a few at a time, until the coordinator ends it. Exchanges {@link ShopLine}s with the coordinator.
 * When the coordinator dies, its end of the pipe closes, and the shop ends, too.
 */
final class Shop {

    /**
     * The options of the demo. The lease is short only so that you see the next shop get the killed holder's lock. Without a wait timeout, an acquisition
     * fails when the lock's servers decide nothing for a lease duration, which a busy machine can cause.
     */
    static final LockOptions LOCK_OPTIONS = LockOptions.builder()
            .leaseDuration(Duration.ofSeconds(2))
            .waitTimeout(Duration.ofMinutes(1))
            .build();

    /** The number of buyers that a shop serves at once. As many of its acquisitions wait for the lock. */
    private static final int TILLS = 16;

    /** On a busy machine, three JVMs that start together may need more than half a second for their first connection. */
    private static final int FIRST_PINGS = 20;

    /** The pause of a shop while the queue is empty. The buyers of the killed shop may still come back. */
    private static final Duration IDLE_PAUSE = Duration.ofMillis(20);

    private final ShopOrder order;
    private final RedisReactiveCommands<String, String> redis;
    private final Checkout checkout;

    private Shop(ShopOrder order, RedisReactiveCommands<String, String> redis, LockClient locks) {
        this.order = order;
        this.redis = redis;
        SaleKeys keys = order.keys();
        Guard guard = order.withLock() ? Guard.by(locks.lock(keys.lockName())) : Guard.none();
        Accident accident = order.accidentAt() < 0
                ? Accident.none()
                : Accident.at(order.accidentAt(), token -> say(ShopLine.HOLDING + token));
        checkout = new Checkout(order.shop(), keys, redis, guard, accident);
    }

    /** Serves buyers until the JVM ends. */
    Flux<Visit> serveAll() {
        return nextBuyer().repeat().flatMap(checkout::serve, TILLS);
    }

    private Mono<Integer> nextBuyer() {
        SaleKeys keys = order.keys();
        return redis.lmove(keys.queue(), keys.takenBy(order.shop()), LMoveArgs.Builder.leftRight())
                .repeatWhenEmpty(Integer.MAX_VALUE, empty -> empty.delayElements(IDLE_PAUSE))
                .map(Integer::valueOf);
    }

    /** The main thread only reads from the coordinator. The threads of the drivers serve the buyers. */
    public static void main(String[] arguments) throws IOException {
        RedisURI uri = RedisURI.create(environment(ShopOrder.REDIS_URI));
        LockAddress lock = LockAddress.parse(environment(ShopOrder.LOCK));
        ClientResources resources = ClientResources.create();
        RedisClient client = RedisClient.create(resources, uri);
        ShopOrder order = ShopOrder.parse(arguments);
        LockBackend backend = lock.backend(resources);
        LockClient locks = LockClient.builder(order.localHandOver() ? LocalHandOver.over(backend) : backend)
                .options(LOCK_OPTIONS)
                .build();
        Shop shop = new Shop(order, client.connect().reactive(), locks);
        locks.ping().retry(FIRST_PINGS).subscribe(nothing -> {}, Shop::fail, () -> say(ShopLine.READY));
        shop.listen();
        locks.close().subscribe(nothing -> {}, Shop::fail, () -> System.exit(0));
    }

    private static String environment(String variable) {
        return Optional.ofNullable(System.getenv(variable)).orElseThrow();
    }

    private void listen() throws IOException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            if (line.equals(ShopLine.OPEN)) {
                // It ends with this JVM, which owns it.
                serveAll().subscribe(visit -> {}, Shop::fail);
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private static void fail(Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
    }
}
