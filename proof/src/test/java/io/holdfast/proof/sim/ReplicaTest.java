package io.holdfast.proof.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.redis.WrongDriver;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Waiters when their master becomes a replica. */
class ReplicaTest {

    /** The waiter reaches the new master without a refusal. That master counts only its own listeners, so the subscription has to follow. */
    @Test
    void waiterWhoseConnectionIsLostDuringADemotionIsServed() {
        Scene scene = new Scene();
        RedisPair pair = scene.pair();
        SimulatedRedis former = pair.named();
        LockClient waiter = scene.client(pair::named, WrongDriver.NONE);
        LockClient one = scene.client(pair::named, WrongDriver.NONE);
        LockClient other = scene.client(pair::named, WrongDriver.NONE);
        scene.useForEver(one, "stock", Duration.ofMillis(100));
        scene.useForEver(other, "stock", Duration.ofMillis(100));
        scene.run(Duration.ofSeconds(1));
        AtomicBoolean isServed = new AtomicBoolean();
        Disposable waiting = waiter.lock("stock").acquire().subscribe(lease -> isServed.set(true));
        scene.run(Duration.ofMillis(30));

        pair.change(RedisPair.Care.WAITS);
        scene.wires(0, former).get(0).cut();
        scene.run(Duration.ofSeconds(5));

        assertThat(pair.named()).isNotEqualTo(former);
        assertThat(isServed).isTrue();
        waiting.dispose();
    }
}
