package io.holdfast.redlock;

import static io.holdfast.redlock.FiveServers.NAME;
import static io.holdfast.redlock.FiveServers.await;
import static io.holdfast.redlock.FiveServers.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.server.TcpProxy;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Real masters that are killed under a held lease and come back empty, with and without the restart rule. */
class RestartRuleIT {

    private static final Duration LEASE = Duration.ofSeconds(3);

    @RegisterExtension
    final FiveServers five = new FiveServers();

    /** Makes a client with a long time limit: these tests are not about slow answers. */
    private FiveServers.Client client(boolean renews, Function<Integer, RedisLockBackend.Builder> member) {
        return five.client(
                LockOptions.builder().leaseDuration(LEASE).autoRenew(renews).build(),
                member,
                backend -> backend.masterTimeLimit(Duration.ofMillis(300)));
    }

    private Function<Integer, RedisLockBackend.Builder> quarantined(Duration time) {
        return five.direct().andThen(it -> it.quarantine(time));
    }

    /** Makes a client that cannot reach the fifth master. */
    private FiveServers.Client withoutTheFifth(TcpProxy proxy, Duration quarantine) {
        proxy.refuse();
        return client(
                false,
                number -> (number < 5
                                ? five.direct().apply(number)
                                : five.at(RedisURI.create(proxy.host(), proxy.port())))
                        .quarantine(quarantine));
    }

    private void restartEmpty(int... numbers) {
        for (int number : numbers) {
            five.server(number).restart();
        }
    }

    /**
     * Acquires the lock at the four masters that the client reaches. On a busy machine one may answer too late; then it
     * tries again.
     */
    private LockLease acquired(FiveServers.Client client) {
        AtomicReference<LockLease> held = new AtomicReference<>();
        eventually(() -> {
            LockLease lease = await(client.locks.lock(NAME).acquire());
            FiveServers.pause(Duration.ofMillis(30));
            held.set(lease);
            return five.holding().equals(List.of(1, 2, 3, 4)) || !release(lease);
        });
        return held.get();
    }

    /** Tries once. Right after a restart, connections are being made, and the attempt may fail. */
    private static Optional<LockLease> attempt(FiveServers.Client client) {
        return await(client.locks
                .lock(NAME)
                .tryAcquire()
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty())
                .onErrorReturn(Optional.empty()));
    }

    /** The reason for the rule. */
    @Test
    void withoutARuleTwoMastersThatForgotGiveARivalTheMajority() {
        try (TcpProxy fifth = TcpProxy.inFrontOf(five.server(5))) {
            LockLease lease = acquired(withoutTheFifth(fifth, Duration.ZERO));
            restartEmpty(1, 2);
            FiveServers.Client rival = client(false, five.direct());
            Optional<LockLease> won = attempt(rival);
            while (won.isEmpty() && lease.isValid()) {
                won = attempt(rival);
            }
            LockLease second = won.orElseThrow();
            assertThat(lease.isValid())
                    .as("the first client still trusts its lease")
                    .isTrue();
            assertThat(second.isValid()).as("and so does the second").isTrue();
            assertThat(second.fencingToken()).as("whose token is higher").isGreaterThan(lease.fencingToken());
        }
    }

    @Test
    void mastersThatForgotDoNotVoteUntilTheLeaseIsOver() {
        try (TcpProxy fifth = TcpProxy.inFrontOf(five.server(5))) {
            FiveServers.Client rival = client(false, quarantined(LEASE));
            eventually(() -> attempt(rival).map(RestartRuleIT::release).orElse(false));
            LockLease lease = acquired(withoutTheFifth(fifth, LEASE));
            long restarted = System.nanoTime();
            restartEmpty(1, 2);
            rival.votes.clear();
            Optional<LockLease> second = Optional.empty();
            int refused = 0;
            while (second.isEmpty()) {
                refused++;
                second = attempt(rival);
            }
            assertThat(lease.isValid())
                    .as("the first client does not trust its lease any more")
                    .isFalse();
            assertThat(second.orElseThrow().fencingToken()).isGreaterThan(lease.fencingToken());
            assertThat(refused).isGreaterThan(1);
            await(second.orElseThrow().release());
            eventually(() -> allFiveVote(rival));
            assertThat(Duration.ofNanos(System.nanoTime() - restarted)).isGreaterThanOrEqualTo(LEASE);
        }
    }

    @CanIgnoreReturnValue
    private static boolean release(LockLease lease) {
        await(lease.release());
        return true;
    }

    private boolean allFiveVote(FiveServers.Client client) {
        Optional<LockLease> lease = attempt(client);
        if (lease.isEmpty()) {
            return false;
        }
        boolean all;
        try {
            eventually(() -> five.holding().size() >= 3);
            all = five.holding().size() == 5;
        } finally {
            release(lease.orElseThrow());
        }
        return all;
    }

    @Test
    void aLeaseIsRestoredAtMastersThatForgotOnlyWhenTheyMayVoteAgain() {
        FiveServers.Client client = client(true, quarantined(LEASE));
        eventually(() -> attempt(client).map(RestartRuleIT::release).orElse(false));
        LockLease lease = await(client.locks.lock(NAME).acquire());
        eventually(() -> isRenewedAtAll(lease));
        long restarted = System.nanoTime();
        restartEmpty(1, 2);
        eventually(() -> isRenewedAtAll(lease));
        assertThat(Duration.ofNanos(System.nanoTime() - restarted)).isGreaterThanOrEqualTo(LEASE);
        assertThat(lease.isValid()).isTrue();
        await(lease.release());
    }

    private boolean isRenewedAtAll(LockLease lease) {
        await(lease.renew().onErrorComplete()); // the outcome may be unknown, on a busy machine
        return five.holding().size() == 5;
    }

    @Test
    void mastersThatGrantNothingStillRenewAndRelease() {
        RedlockBackend free = client(true, five.direct()).backend;
        RedlockBackend barred = client(true, quarantined(Duration.ofHours(1))).backend;
        LockClaim claim = LockClaim.first(LockKey.of(LockKind.MUTEX, NAME), "one", LEASE, Waiting.NONE);
        assertThat(await(free.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        Throwable refused = catchThrowable(
                () -> await(barred.tryAcquire(LockClaim.first(claim.key(), "two", LEASE, Waiting.NONE))));
        assertThat(refused.getCause() == null ? refused : refused.getCause())
                .isInstanceOf(LockBackendException.class)
                .hasMessageContainingAll("5 of 5 masters may not vote yet", "has been up for", "first 3600 s");
        assertThat(await(barred.renew(claim))).isInstanceOf(Renewal.Held.class);
        assertThat(await(barred.release(claim))).isEqualTo(Ownership.HELD);
        assertThat(await(free.renew(claim))).isInstanceOf(Renewal.NotHeld.class);
        assertThat(await(Mono.defer(() -> free.release(claim)))).isEqualTo(Ownership.NOT_HELD);
    }
}
