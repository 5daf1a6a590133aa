package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Clients vanish while their claims wait before a claim of a living client. Their watches are open, and pushed grants
 * reach them, but they send nothing any more. A client costs the living claim a claim time once, however many claims of
 * it wait, and however long their leases are.
 */
interface VanishedClientsContract extends LockBackendUnderTest {

    /** Far longer than a claim time: no claim goes stale within a test. */
    Duration LONG_LEASE = Duration.ofSeconds(30);

    private static List<Integer> claimsOfOneClient() {
        return Integer.getInteger("holdfast.cases", 1) > 1 ? List.of(1, 20, 1_000) : List.of(1, 20);
    }

    @Test
    default void claimOfAMutexBehindAVanishedClientIsServedInTime() {
        claimBehindAVanishedClient(LockKind.MUTEX, LockKind.MUTEX);
    }

    @Test
    default void writerBehindWritersOfAVanishedClientIsServedInTime() {
        needs(LockFeature.READ_WRITE);
        claimBehindAVanishedClient(LockKind.WRITE, LockKind.WRITE);
    }

    @Test
    default void writerBehindReadersOfAVanishedClientIsServedInTime() {
        needs(LockFeature.READ_WRITE);
        claimBehindAVanishedClient(LockKind.READ, LockKind.WRITE);
    }

    @Test
    default void claimOfASemaphoreBehindAVanishedClientIsServedInTime() {
        needs(LockFeature.SEMAPHORE);
        claimBehindAVanishedClient(LockKind.SEMAPHORE, LockKind.SEMAPHORE);
    }

    @Test
    default void claimOfAMutexBehindFiveVanishedClientsIsServedInTime() {
        claimBehindVanishedClients(LockKind.MUTEX, LockKind.MUTEX, 5, 4);
    }

    @Test
    default void writerBehindWritersOfFiveVanishedClientsIsServedInTime() {
        needs(LockFeature.READ_WRITE);
        claimBehindVanishedClients(LockKind.WRITE, LockKind.WRITE, 5, 4);
    }

    @Test
    default void writerBehindReadersOfFiveVanishedClientsIsServedInTime() {
        needs(LockFeature.READ_WRITE);
        claimBehindVanishedClients(LockKind.READ, LockKind.WRITE, 5, 4);
    }

    @Test
    default void claimOfASemaphoreBehindFiveVanishedClientsIsServedInTime() {
        needs(LockFeature.SEMAPHORE);
        claimBehindVanishedClients(LockKind.SEMAPHORE, LockKind.SEMAPHORE, 5, 4);
    }

    @Test
    default void cyclesOfAMutexBesideAVanishedClientCostAtMostTwiceTheUsual() {
        cyclesBesideAVanishedClient(LockKind.MUTEX);
    }

    @Test
    default void cyclesOfWritersBesideAVanishedClientCostAtMostTwiceTheUsual() {
        needs(LockFeature.READ_WRITE);
        cyclesBesideAVanishedClient(LockKind.WRITE);
    }

    @Test
    default void cyclesOfASemaphoreBesideAVanishedClientCostAtMostTwiceTheUsual() {
        needs(LockFeature.SEMAPHORE);
        cyclesBesideAVanishedClient(LockKind.SEMAPHORE);
    }

    @Test
    default void clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain() {
        clientThatLostOneAnswerIsTrustedAgain(LockKind.MUTEX);
    }

    @Test
    default void clientThatLostOneAnswerToAWriterIsTrustedAgain() {
        needs(LockFeature.READ_WRITE);
        clientThatLostOneAnswerIsTrustedAgain(LockKind.WRITE);
    }

    @Test
    default void clientThatLostOneAnswerToAClaimOfASemaphoreIsTrustedAgain() {
        needs(LockFeature.SEMAPHORE);
        clientThatLostOneAnswerIsTrustedAgain(LockKind.SEMAPHORE);
    }

    private void needs(LockFeature feature) {
        assumeTrue(backend().features().contains(feature), "needs " + feature);
    }

    private void claimBehindAVanishedClient(LockKind vanished, LockKind living) {
        claimsOfOneClient().forEach(claims -> claimBehindVanishedClients(vanished, living, 1, claims));
    }

    private void claimBehindVanishedClients(LockKind vanished, LockKind living, int clients, int claimsOfEach) {
        try (Contest contest = new Contest(this)) {
            Object unused = servedBehind(contest, vanished, living, clients, claimsOfEach);
        }
    }

    /** Returns the living claim, which holds the lock. The claims of each client stand between those of the others. */
    private Contender servedBehind(Contest contest, LockKind vanished, LockKind living, int clients, int claimsOfEach) {
        Contender holder = living(contest, living, Waiting.NONE);
        holder.mustAcquire();
        List<LockBackend> gone = Stream.generate(this::newClient).limit(clients).toList();
        for (int claim = 0; claim < claimsOfEach; claim++) {
            for (int client = 0; client < clients; client++) {
                Contender next = contest.of(gone.get(client), "gone-" + client, vanished, LONG_LEASE, Waiting.QUEUE);
                Object unused = next.vanishing().watching().attempt();
                contest.armed(next);
            }
        }
        Contender waiter = living(contest, living, Waiting.QUEUE).watching();
        var answer = waiter.attempt();
        contest.armed(waiter);
        gone.forEach(this::vanish);
        holder.release();
        waiter.mustBeGrantedWithin(vanishedClientBound(clients), answer);
        return waiter;
    }

    private Contender living(Contest contest, LockKind kind, Waiting waiting) {
        return contest.of(backend(), "living", kind, LONG_LEASE, waiting);
    }

    private void cyclesBesideAVanishedClient(LockKind kind) {
        assumeTrue(serverWork() >= 0, "needs counted work");
        long usual;
        try (Contest contest = new Contest(this)) {
            Contender holder = living(contest, kind, Waiting.NONE);
            holder.mustAcquire();
            usual = workOfCycles(contest, holder);
        }
        for (int claims : claimsOfOneClient()) {
            try (Contest contest = new Contest(this)) {
                Contender holder = servedBehind(contest, kind, kind, 1, claims);
                assertThat(workOfCycles(contest, holder))
                        .as("work beside %d claims of a vanished client", claims)
                        .isLessThanOrEqualTo(2 * usual);
            }
        }
    }

    /** Counts eight cycles, after four that may clean up. All of them together take less than one vanished client. */
    private long workOfCycles(Contest contest, Contender first) {
        List<Contender> holders = new ArrayList<>(List.of(first));
        Duration left = vanishedClientBound(1);
        long before = 0;
        for (int cycle = 0; cycle < 12; cycle++) {
            before = cycle == 4 ? serverWork() : before;
            Contender next =
                    living(contest, first.claim().key().kind(), Waiting.QUEUE).watching();
            var answer = next.attempt();
            contest.armed(next);
            holders.get(cycle).release();
            left = left.minus(next.mustBeGrantedWithin(left, answer));
            holders.add(next);
        }
        return serverWork() - before;
    }

    private void clientThatLostOneAnswerIsTrustedAgain(LockKind kind) {
        assumeTrue(pushesGrants(), "needs pushed grants");
        try (Contest contest = new Contest(this)) {
            Contender holder = living(contest, kind, Waiting.NONE);
            holder.mustAcquire();
            LockBackend client = newClient();
            Contender unanswered = contest.of(client, "lost-one", kind, LONG_LEASE, Waiting.QUEUE);
            Contender itsNext = contest.of(client, "lost-one", kind, LONG_LEASE, Waiting.QUEUE);
            contest.queued(unanswered.watching());
            contest.queued(itsNext.watching());
            Contender waiter = living(contest, kind, Waiting.QUEUE).watching();
            var answer = waiter.attempt();
            contest.armed(waiter);
            holder.release();
            unanswered.mustBePushed();
            waiter.mustBeGrantedWithin(vanishedClientBound(1), answer);

            unanswered.mustQueue();
            waiter.release();
            itsNext.mustBePushed();
            itsNext.mustHold();
            itsNext.release();
            unanswered.mustBePushed();
            unanswered.mustHold();
        }
    }
}
