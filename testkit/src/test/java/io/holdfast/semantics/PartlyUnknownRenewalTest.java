package io.holdfast.semantics;

import static io.holdfast.semantics.World.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A back end of several servers, one of which is unreachable: the leases on the others are not affected. */
class PartlyUnknownRenewalTest {

    private static final int EACH = 20;

    @RegisterExtension
    final World world = new World();

    private final List<LockEvent.RenewalFailed> failed = new ArrayList<>();
    private final PartlyAway parts = new PartlyAway(world.store);
    private final LockClient client = LockClient.builder(parts)
            .timer(world.clock)
            .closeBackend(false)
            .listener(event -> {
                if (event instanceof LockEvent.RenewalFailed failure) {
                    failed.add(failure);
                }
            })
            .build();

    @AfterEach
    void close() {
        world.subscribe(client.close());
    }

    @Test
    void leasesOnTheOtherServersAreRenewedAsBefore() {
        List<LockLease> here = acquired("here");
        List<LockLease> away = acquired("away");
        parts.isAway = true;

        world.pass(LEASE.multipliedBy(3));

        assertThat(here).allMatch(LockLease::isValid);
        assertThat(failed).extracting(LockEvent.RenewalFailed::lockName).allMatch(name -> name.startsWith("away"));
        assertThat(away).noneMatch(LockLease::isValid);
    }

    @Test
    void anUnknownLeaseIsKeptUntilItsDeadlineAndSurvivesWhenItsServerAnswersAgain() {
        List<LockLease> away = acquired("away");
        parts.isAway = true;
        world.pass(LEASE.minusSeconds(3));
        assertThat(away).allMatch(LockLease::isValid);
        parts.isAway = false;

        world.pass(LEASE);

        assertThat(away).allMatch(LockLease::isValid);
        assertThat(failed).extracting(LockEvent.RenewalFailed::error).allMatch(LockBackendException::isTransient);
    }

    @Test
    void aLeaseThatStaysUnknownIsLostAtItsDeadlineAndNotBefore() {
        TestSubscriber<LossReason> loss =
                world.subscribe(acquired("away").get(0).onLoss());
        parts.isAway = true;
        world.pass(LEASE.minusSeconds(1));
        assertThat(loss.getReceivedOnNext()).isEmpty();

        world.pass(Duration.ofSeconds(1));

        assertThat(loss.getReceivedOnNext()).containsExactly(LossReason.EXPIRED);
    }

    @Test
    void anUnknownAnswerFailsARenewalByHand() {
        LockLease lease = acquired("away").get(0);
        parts.isAway = true;
        parts.answersUnknownAlone = true;

        assertThat(world.subscribe(lease.renew()).expectTerminalError()).isInstanceOf(LockBackendException.class);
        assertThat(lease.isValid()).isTrue();
    }

    private List<LockLease> acquired(String part) {
        return IntStream.range(0, EACH)
                .mapToObj(i -> world.granted(client.lock(part + i).acquire()))
                .toList();
    }

    private static final class PartlyAway implements ForwardingLockBackend {

        private final LockBackend store;
        private boolean isAway;
        private boolean answersUnknownAlone;

        PartlyAway(LockBackend store) {
            this.store = store;
        }

        @Override
        public LockBackend delegate() {
            return store;
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            if (!isAway || !claim.key().name().startsWith("away")) {
                return store.renew(claim);
            }
            LockBackendException failure = new LockBackendException(claim.key().name(), "away", true, null);
            return answersUnknownAlone ? Mono.just(new Renewal.Unknown(failure)) : Mono.error(failure);
        }

        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return Flux.fromIterable(claims)
                    .concatMap(claim -> renew(claim)
                            .onErrorResume(LockBackendException.class, e -> Mono.just(new Renewal.Unknown(e))));
        }
    }
}
