package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.server.TcpProxy;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

class R2dbcMariaDbFaultsIT extends R2dbcFaultsIT {

    /** A grant to a claim without a client lasts this long, so it does not end within a test. */
    private static final Duration CLAIM_TIME = Duration.ofSeconds(20);

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }

    @Test
    void waiterWhoseClientGaveASignOfLifeInTheLastThreeSecondsIsServed() {
        assertThat(holderAfterSilenceOf(Duration.ZERO)).containsExactly("waiter");
    }

    @Test
    void waiterWhoseClientGaveNoSignOfLifeForThreeSecondsIsPassedOver() {
        assertThat(holderAfterSilenceOf(Duration.ofMillis(3_100))).isEmpty();
    }

    /**
     * The client of the only waiter is cut off, so its connections stay open and nothing comes any more. After that time, the holder releases the
     * lock. Returns the new holder. The waiter's own attempt counts as a sign of life too, so it is older than three seconds.
     */
    private List<String> holderAfterSilenceOf(Duration time) {
        R2dbcLockBackend holding = builder(store.server().port(), CLAIM_TIME);
        R2dbcLockBackend silent = builder(proxy.port(), CLAIM_TIME);
        LockClaim holder = claim(Waiting.NONE);
        LockClaim waiter = claim(Waiting.QUEUE);
        run(holding.tryAcquire(holder));
        Disposable watch = silent.watch(waiter).subscribe(signal -> {}, error -> {});
        run(silent.tryAcquire(waiter));
        eventually(() -> store.listeners() == 1);
        assertThat(signsOfLifeIn(Duration.ofMillis(3_500)))
                .as("signs of life in 3.5 s")
                .isBetween(2, 5);

        proxy.dropOnOpen(TcpProxy.Direction.TO_SERVER);
        run(Mono.delay(time));
        run(holding.release(holder));
        List<String> holders =
                store.texts("select if(holder = '%s', 'waiter', holder) from holdfast_lock where holder is not null"
                        .formatted(waiter.id()));
        run(holding.release(waiter));
        watch.dispose();
        Store.end(holding);
        Store.end(silent);
        proxy.cut(); // the server has not seen their end
        return holders;
    }

    /** Counts the signs of the only client that waits, the one before that time too. */
    private int signsOfLifeIn(Duration time) {
        Set<String> seen = new HashSet<>();
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            seen.addAll(store.texts(
                    "select c.seen_us from holdfast_client c join holdfast_waiter w on w.channel = c.channel"));
            run(Mono.delay(Duration.ofMillis(50)));
        }
        return seen.size();
    }
}
