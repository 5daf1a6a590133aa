package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.pause;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A channel opens with the first waiter of a client, and again after each interruption. Neither may make its holders
 * renew.
 */
class ChannelRenewalsIT {

    private static final Duration LEASE = Duration.ofSeconds(60);

    @RegisterExtension
    final ClientOverRedis clients = new ClientOverRedis(options -> options.leaseDuration(LEASE));

    @Test
    void channelThatComesUpOrIsRestoredRenewsNoHeldLease() {
        LockOptions byHand =
                LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build();
        LockLease notRenewed = await(clients.client.lock("by-hand").with(byHand).acquire());
        List<LockLease> held = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            held.add(clients.acquired(clients.client, "held/" + i));
        }
        LockLease others = clients.acquired(clients.rival, "orders");
        long left = clients.store.leaseLeft(Store.holderKey("by-hand"));

        CompletableFuture<LockLease> waiter =
                clients.client.lock("orders").acquire().toFuture();
        pause(Duration.ofMillis(500));
        assertThat(clients.store.redis().clientKill(KillArgs.Builder.typePubsub()))
                .isEqualTo(2);
        clients.eventuallyListening(2);
        pause(Duration.ofMillis(500));

        assertThat(clients.store.leaseLeft(Store.holderKey("by-hand"))).isLessThan(left);
        assertThat(held).allMatch(lease -> clients.store.leaseLeft(Store.holderKey(lease.lockName())) < left);
        await(others.release());
        await(waiter.join().release());
        held.forEach(lease -> await(lease.release()));
        await(notRenewed.release());
    }
}
