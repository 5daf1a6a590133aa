package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** Commands of one client leave in the order of the calls, whatever else that client does. */
class OrderIT {

    private static final int WAITERS = 8_000;
    private static final int BUSY = 500;

    private Store store;
    private RedisLockBackend backend;
    private final Disposable.Composite others = Disposables.composite();

    @BeforeEach
    void start() {
        store = Store.start();
        backend = store.backend();
    }

    @AfterEach
    void stop() {
        others.dispose();
        Store.end(backend);
        store.close();
    }

    @RepeatedTest(3)
    void waitersThatOneThreadSubscribesAreQueuedInThatOrder() {
        assertThat(Store.answer(backend.tryAcquire(Store.claim("orders")))).isInstanceOf(LockAttempt.Acquired.class);
        for (int i = 0; i < BUSY; i++) {
            others.add(cycles("other " + i)); // the event loop sends each of these commands after the answer before
        }
        List<String> given = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            LockClaim waiter = Store.claim("orders", Waiting.QUEUE);
            given.add(waiter.id());
            others.add(backend.tryAcquire(waiter).subscribe(answer -> {}, error -> {}));
        }
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == WAITERS);

        List<String> queued = Store.waiters(store.redis(), Store.holderKey("orders"));

        long overtaken = overtaken(given, queued);
        System.out.printf("[holdfast] overtaken of %d waiters: %d%n", WAITERS, overtaken);
        assertThat(overtaken).isZero();
    }

    private Disposable cycles(String name) {
        return Flux.range(0, Integer.MAX_VALUE)
                .concatMap(
                        n -> {
                            LockClaim claim = Store.claim(name);
                            return backend.tryAcquire(claim).then(backend.release(claim));
                        },
                        0)
                .subscribe(ended -> {}, error -> {});
    }

    /** Counts the waiters with a later one in front of them. */
    private static long overtaken(List<String> given, List<String> queued) {
        Map<String, Integer> places = new HashMap<>();
        given.forEach(id -> places.put(id, places.size()));
        int latest = -1;
        long overtaken = 0;
        for (String id : queued) {
            int place = places.get(id);
            overtaken += place < latest ? 1 : 0;
            latest = Math.max(latest, place);
        }
        return overtaken;
    }
}
