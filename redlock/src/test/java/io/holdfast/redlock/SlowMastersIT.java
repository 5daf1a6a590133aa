package io.holdfast.redlock;

import static io.holdfast.redlock.FiveServers.NAME;
import static io.holdfast.redlock.FiveServers.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Real masters behind proxies that delay their answers. The tests check the order of times, or a ratio of two in one
 * run.
 */
class SlowMastersIT {

    private static final Duration LEASE = Duration.ofSeconds(20);

    @RegisterExtension
    final FiveServers five = new FiveServers();

    private final List<TcpProxy> proxies = IntStream.rangeClosed(1, 5)
            .mapToObj(number -> TcpProxy.inFrontOf(five.server(number)))
            .toList();
    private final FiveServers.Client client = five.client(
            LockOptions.builder().leaseDuration(LEASE).autoRenew(false).build(), this::behindItsProxy);

    private RedisLockBackend.Builder behindItsProxy(int number) {
        TcpProxy proxy = proxies.get(number - 1);
        return five.at(RedisURI.create(proxy.host(), proxy.port()));
    }

    @AfterEach
    void end() {
        await(client.locks.close()); // before the proxies, or the client would connect again
        proxies.forEach(TcpProxy::close);
    }

    private void answersTake(int... millis) {
        for (int i = 0; i < 5; i++) {
            proxies.get(i).delay(Direction.TO_CLIENT, Duration.ofMillis(millis[i]));
        }
    }

    /** Returns the time from the subscription to the lease. Releases the lock everywhere before it returns. */
    private Duration acquisition() {
        long begin = System.nanoTime();
        LockLease lease = await(client.locks.lock(NAME).acquire());
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        await(lease.release());
        return took;
    }

    private void warmUp() {
        for (int i = 0; i < 200; i++) {
            Duration unused = acquisition();
        }
    }

    private static Duration median(List<Duration> some) {
        return some.stream().sorted().skip(some.size() / 2).findFirst().orElseThrow();
    }

    @Test
    void acquisitionTakesAsLongAsTheThirdFastestMaster() {
        warmUp();
        answersTake(180, 40, 10, 160, 20);
        List<Duration> took = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            took.add(acquisition());
            FiveServers.pause(Duration.ofMillis(20)); // so that late answers do not queue up behind each other
        }
        System.out.printf(
                "acquisition with answers after 10, 20, 40, 160 and 180 ms: median %d us, of %d..%d us%n",
                median(took).toNanos() / 1_000,
                took.stream().min(Comparator.naturalOrder()).orElseThrow().toNanos() / 1_000,
                took.stream().max(Comparator.naturalOrder()).orElseThrow().toNanos() / 1_000);
        assertThat(took).as("not before the third answer").allMatch(it -> it.compareTo(Duration.ofMillis(40)) >= 0);
        assertThat(median(took)).as("nor with the fourth").isLessThan(Duration.ofMillis(160));
    }

    @Test
    void hungMasterDelaysAnAcquisitionByAFifthAtMost() {
        warmUp();
        answersTake(75, 75, 75, 75, 75); // a fifth of that is more than a busy machine adds to a median
        List<Duration> healthy = new ArrayList<>();
        List<Duration> hung = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            five.server(3).resume();
            await(client.backend.ping());
            IntStream.range(0, 5).forEach(round -> healthy.add(acquisition()));
            five.server(3).pause();
            IntStream.range(0, 5).forEach(round -> hung.add(acquisition()));
        }
        five.server(3).resume();
        double ratio = (double) median(hung).toNanos() / median(healthy).toNanos();
        System.out.printf(
                "acquisition with answers after 75 ms: median %d us, with one of five frozen %d us, ratio %.3f%n",
                median(healthy).toNanos() / 1_000, median(hung).toNanos() / 1_000, ratio);
        assertThat(ratio).as("hung over healthy").isLessThanOrEqualTo(1.2);
    }

    /** As fast as the servers are. The ratio is only printed, since it depends on the other work of the machine. */
    @Test
    void hungMasterCostsNoTimeLimitWhenTheOthersAnswerAtOnce() {
        warmUp();
        List<Duration> healthy = new ArrayList<>();
        List<Duration> hung = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            IntStream.range(0, 20).forEach(round -> healthy.add(acquisition()));
            five.server(3).pause();
            IntStream.range(0, 20).forEach(round -> hung.add(acquisition()));
            five.server(3).resume();
        }
        System.out.printf(
                "acquisition: median %d us, with one of five frozen %d us%n",
                median(healthy).toNanos() / 1_000, median(hung).toNanos() / 1_000);
        assertThat(median(hung)).as("the time limit of a master").isLessThan(LEASE.dividedBy(100));
    }

    /** A majority of the servers keeps the lock for at least as long as the lease reports. */
    @Test
    void leaseIsNeverEmittedWithLessValidityThanItReports() {
        Duration limit = LEASE.dividedBy(100);
        warmUp();
        List<Duration> least = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int late = (int) limit.toMillis() * 3 / 4;
            answersTake(late, late, late, late, late);
            LockLease lease = await(client.locks.lock(NAME).acquire());
            Duration reported = lease.remaining();
            assertThat(reported).as("the time of the round is taken off").isLessThan(LEASE.minusMillis(late));
            List<Duration> margins = new ArrayList<>();
            for (int number = 1; number <= 5; number++) {
                String key = "holdfast:{%s}".formatted(NAME);
                long keptFor = five.query(number, redis -> Records.leaseLeft(redis, key + ":mutex"));
                // Read after the server's answer: the lease has less left by now than it had then.
                margins.add(Duration.ofMillis(keptFor).minus(lease.remaining()));
            }
            margins.sort(Comparator.reverseOrder());
            least.add(margins.get(2));
            assertThat(margins.get(2)).as("of the majority").isPositive();
            proxies.forEach(TcpProxy::pass);
            await(lease.release());
        }
        System.out.println("a majority keeps the lock longer than the lease reports, by ms: "
                + least.stream().map(Duration::toMillis).toList());
    }
}
