package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Lease;
import io.etcd.jetcd.api.LeaseGrantResponse;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.scheduler.VirtualTimeScheduler;

class LeasesTest {

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<String> sent = new ArrayList<>();
    private final List<Long> left = new ArrayList<>();

    /** Grants leases, and never answers a keep-alive. */
    private final Lease client = (Lease) Proxy.newProxyInstance(
            Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (proxy, method, args) -> {
                sent.add(method.getName());
                return method.getName().equals("grant")
                        ? CompletableFuture.completedFuture(
                                new io.etcd.jetcd.lease.LeaseGrantResponse(LeaseGrantResponse.newBuilder()
                                        .setID(7)
                                        .setTTL((long) args[0])
                                        .build()))
                        : new CompletableFuture<>();
            });

    /** A member that hangs has one heartbeat. The driver sends the next one to another member. */
    @ParameterizedTest
    @ValueSource(ints = {2, 6, 60})
    void keepAliveWithoutAnAnswerIsGivenUpBeforeTheNextHeartbeat(int seconds) {
        Duration presence = Duration.ofSeconds(seconds);
        Leases leases = new Leases(client, time, presence, ended -> {});
        leases.prove().subscribe();
        for (int beat = 0; beat < 2; beat++) {
            time.advanceTimeBy(Heartbeat.period(presence).multipliedBy(99).dividedBy(100)); // no clock is exact
            leases.prove().subscribe(lease -> {}, error -> {});
        }
        assertThat(sent).containsExactly("grant", "keepAliveOnce", "keepAliveOnce");
    }

    /** A frozen member that continues carries out the attempts that wait in its connection. Their claims may be withdrawn by then. */
    @Test
    void tombstoneOutlivesTheConnectionToAFrozenMember() {
        Duration driver = Duration.ofSeconds(30 + 10); // the defaults of jetcd for keepaliveTime and keepaliveTimeout
        Leases leases = new Leases(client, time, Duration.ofSeconds(6), ended -> {});
        for (int second = 0; second < 300; second++) {
            leases.ofTombstones().subscribe(lease -> left.add(lease.leftNanos(time.now(TimeUnit.NANOSECONDS))));
            time.advanceTimeBy(Duration.ofSeconds(1));
        }
        assertThat(left).hasSize(300).allMatch(nanos -> nanos > driver.toNanos());
    }
}
