package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Many waiters of a simulated Redis at once: all are served, and their load on the server is bounded. */
class CrowdTest {

    private static final int WAITERS = 200;

    private final Scene scene = new Scene();
    private final AtomicInteger served = new AtomicInteger();

    /** Makes a held lock and its waiters, in the given number of processes. */
    private LockLease crowd(int processes) {
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            clients.add(scene.client());
        }
        AtomicReference<LockLease> held = new AtomicReference<>();
        Disposable unused = clients.get(0).lock("stock").acquire().subscribe(held::set);
        scene.run(Duration.ofMillis(100));
        for (int i = 0; i < WAITERS; i++) {
            Disposable unusedToo = clients.get(i % processes)
                    .lock("stock")
                    .withLock(lease -> Mono.fromRunnable(served::incrementAndGet))
                    .subscribe();
        }
        scene.run(Duration.ofSeconds(4));
        return Objects.requireNonNull(held.get());
    }

    private void release(LockLease lease) {
        Disposable unused = lease.release().subscribe();
    }

    @Test
    void allWaitersAreServedAfterARestartThatForgetsTheScripts() {
        LockLease held = crowd(4);
        long before = scene.server().operations();
        long bodies = scene.server().bodies();

        scene.server().crash(World.ms(100), false);
        scene.run(Duration.ofSeconds(3));
        long attempts = scene.server().operations() - before;
        release(held);
        scene.run(Duration.ofSeconds(10));

        assertThat(served).hasValue(WAITERS);
        assertThat(attempts).as("attempts after the restart").isLessThan(4 * WAITERS);
        assertThat(scene.server().bodies() - bodies)
                .as("scripts that were sent again")
                .isLessThan(40);
    }

    @Test
    void allWaitersAreServedWhenScriptsAreFlushed() {
        LockLease held = crowd(4);
        long bodies = scene.server().bodies();

        scene.server().flushScripts();
        release(held);
        scene.run(Duration.ofSeconds(10));

        assertThat(served).hasValue(WAITERS);
        assertThat(scene.server().bodies() - bodies)
                .as("scripts that were sent again")
                .isLessThan(20);
    }

    /** A user with rights to the channel publishes hints. Each named claim sends an attempt for them, up to a hundred times a second. */
    @Test
    void floodOfHintsCostsNoMoreAttemptsThanStated() {
        LockLease held = crowd(4);
        List<String> named = scene.server().waiters("stock").subList(0, 10);
        long before = scene.server().operations();

        for (int millis = 0; millis < 1_000; millis++) {
            named.forEach(id -> scene.server().deliverToAll("C " + id));
            scene.run(Duration.ofMillis(1));
        }

        assertThat(scene.server().operations() - before).isBetween(100L, 10 * 100L + 2 * WAITERS);
        release(held);
        scene.run(Duration.ofSeconds(10));
        assertThat(served).hasValue(WAITERS);
    }
}
