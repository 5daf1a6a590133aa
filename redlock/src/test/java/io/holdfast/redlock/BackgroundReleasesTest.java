package io.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redlock.internal.master.BackgroundReleases;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;

class BackgroundReleasesTest {

    @RegisterExtension
    final Five five = new Five();

    private final Five.Client client = five.client();

    @Test
    void aVoteThatIsUndoneCostsOneTimer() {
        Masters masters = five.masters(client);
        client.roundTrip(1, Five.LIMIT.dividedBy(2));
        long ownTasks = five.time.getScheduledTaskCount();
        masters.releases().release(0, Five.claim());
        assertThat(five.time.getScheduledTaskCount() - ownTasks)
                .as("its time limit, and the message")
                .isEqualTo(2);
        five.pass(Five.LIMIT);
        assertThat(masters.releases().underWay()).isZero();
    }

    @Test
    void aVoteIsNotUndoneAgainWhenItHasEndedByItself() {
        Masters masters = five.masters(client);
        client.down(1);
        LockClaim brief = LockClaim.first(Five.claim().key(), "brief", Duration.ofMillis(500), Waiting.NONE);
        masters.releases().release(0, brief);
        five.passMillis(500);
        int before = client.wires.get(0).requests;
        five.pass(Five.LEASE);
        assertThat(masters.releases().underWay()).isZero();
        assertThat(client.wires.get(0).requests).isEqualTo(before);
    }

    /** A server of the application may cancel many requests at once. */
    @Test
    void thousandsOfAttemptsThatAreCancelledAtOnceLeaveNoVoteAtHealthyMasters() {
        client.wires.forEach(it -> it.delayNanos = () -> 2_000_000);
        List<LockClaim> claims = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            claims.add(Five.claim("stock/" + i, Waiting.NONE));
        }
        List<Disposable> attempts = claims.stream()
                .map(it -> client.backend.tryAcquire(it).subscribe())
                .toList();
        five.passMillis(3);
        assertThat(five.contents()).as("granted, not answered yet").hasSize(50_000);

        attempts.forEach(Disposable::dispose);
        claims.forEach(it -> client.backend.release(it).subscribe());
        five.passMillis(200);

        assertThat(five.contents()).isEmpty();
        assertThat(client.backend.releaseCount()).isZero();
    }

    @Test
    void hungMasterDoesNotUseUpTheReleasesThatTheOthersNeed() {
        Masters masters = five.masters(client);
        client.hung(1);
        int all = BackgroundReleases.MOST_UNDER_WAY + BackgroundReleases.MOST_WAITING;
        for (int i = 0; i < 2 * all; i++) {
            masters.releases().release(0, Five.claim());
        }
        assertThat(client.wires.get(0).requests).isEqualTo(BackgroundReleases.MOST_UNDER_WAY);
        assertThat(masters.releases().underWay())
                .as("the others are left to expire")
                .isEqualTo(all);
        LockClaim vote = Five.claim();
        five.answer(five.masters.get(1).tryAcquire(vote));
        masters.releases().release(1, vote);
        assertThat(five.holding()).isEmpty();
        five.pass(Five.LEASE.plus(Five.LIMIT));
        assertThat(masters.releases().underWay()).isZero();
    }

    /** A master that does not answer would cost its client more than the masters that do. */
    @Test
    void hungMasterGetsOneReleaseAtATimeUntilItAnswers() {
        Masters masters = five.masters(client);
        List<LockClaim> votes = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            votes.add(Five.claim("stock/" + i, Waiting.NONE));
        }
        votes.forEach(it -> five.answer(five.masters.get(0).tryAcquire(it)));
        client.hung(1);
        votes.forEach(it -> masters.releases().release(0, it));
        five.pass(Five.LIMIT);
        int before = client.wires.get(0).requests;
        five.passMillis(10_000);
        assertThat(client.wires.get(0).requests - before).as("in ten seconds").isBetween(5, 30);

        client.up();
        five.passMillis(2_000);
        assertThat(five.holding()).isEmpty();
        assertThat(masters.releases().underWay()).isZero();
    }

    @Test
    void releaseThatFailsOnceIsSentAgainAfterAPause() {
        Masters masters = five.masters(client);
        LockClaim vote = Five.claim();
        five.answer(five.masters.get(0).tryAcquire(vote));
        masters.releases().releaseAgain(0, vote);
        assertThat(client.wires.get(0).requests).isZero();
        five.passMillis(150);
        assertThat(client.wires.get(0).requests).isEqualTo(1);
        assertThat(five.holding()).isEmpty();
    }

    /** Covers releases that wait for the end of a pause, and releases that were never sent. */
    @Test
    void closingSendsEachReleaseThatWaitsOnce() {
        Masters masters = five.masters(client);
        client.down(1);
        for (int i = 0; i < 3 * BackgroundReleases.MOST_UNDER_WAY; i++) {
            masters.releases().releaseAgain(0, Five.claim("stock/" + i, Waiting.NONE));
        }
        assertThat(client.wires.get(0).requests).isZero();
        Disposable closing = masters.releases().finish().subscribe();
        assertThat(client.wires.get(0).requests).isEqualTo(3 * BackgroundReleases.MOST_UNDER_WAY);
        assertThat(masters.releases().underWay()).isZero();
        assertThat(closing.isDisposed()).isTrue();
    }
}
