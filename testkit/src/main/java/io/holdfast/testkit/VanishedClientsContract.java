package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockKind;
import io.holdfast.spi.LockBackend;
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
        return Integer.getInteger("holdfast.cases", 1) > 1 ? List.of(1, 1_000) : List.of(1, 20);
    }

    @Test
    default void claimOfAMutexBehindAVanishedClientIsServedInTime() {
        claimBehindAVanishedClient(LockKind.MUTEX, LockKind.MUTEX);
    }

    @Needs(Need.READ_WRITE)
    default void writerBehindWritersOfAVanishedClientIsServedInTime() {
        claimBehindAVanishedClient(LockKind.WRITE, LockKind.WRITE);
    }

    @Needs(Need.READ_WRITE)
    default void writerBehindReadersOfAVanishedClientIsServedInTime() {
        claimBehindAVanishedClient(LockKind.READ, LockKind.WRITE);
    }

    @Needs(Need.SEMAPHORE)
    default void claimOfASemaphoreBehindAVanishedClientIsServedInTime() {
        claimBehindAVanishedClient(LockKind.SEMAPHORE, LockKind.SEMAPHORE);
    }

    /** With one claim of each, the claims that the next hand-offs meet are all of clients that have vanished. */
    @Test
    default void claimOfAMutexBehindFiveVanishedClientsIsServedInTime() {
        List.of(1, 4).forEach(claims -> claimBehindVanishedClients(LockKind.MUTEX, LockKind.MUTEX, 5, claims));
    }

    @Needs(Need.READ_WRITE)
    default void writerBehindWritersOfFiveVanishedClientsIsServedInTime() {
        claimBehindVanishedClients(LockKind.WRITE, LockKind.WRITE, 5, 4);
    }

    @Needs(Need.READ_WRITE)
    default void writerBehindReadersOfFiveVanishedClientsIsServedInTime() {
        claimBehindVanishedClients(LockKind.READ, LockKind.WRITE, 5, 4);
    }

    @Needs(Need.SEMAPHORE)
    default void claimOfASemaphoreBehindFiveVanishedClientsIsServedInTime() {
        claimBehindVanishedClients(LockKind.SEMAPHORE, LockKind.SEMAPHORE, 5, 4);
    }

    @Needs(Need.COUNTED_WORK)
    default void cyclesOfAMutexBesideAVanishedClientCostAtMostTwiceTheUsual() {
        cyclesBesideAVanishedClient(LockKind.MUTEX);
    }

    @Needs({Need.READ_WRITE, Need.COUNTED_WORK})
    default void cyclesOfWritersBesideAVanishedClientCostAtMostTwiceTheUsual() {
        cyclesBesideAVanishedClient(LockKind.WRITE);
    }

    @Needs({Need.SEMAPHORE, Need.COUNTED_WORK})
    default void cyclesOfASemaphoreBesideAVanishedClientCostAtMostTwiceTheUsual() {
        cyclesBesideAVanishedClient(LockKind.SEMAPHORE);
    }

    @Needs(Need.PUSHES)
    default void clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain() {
        clientThatLostOneAnswerIsTrustedAgain(LockKind.MUTEX);
    }

    @Needs({Need.READ_WRITE, Need.PUSHES})
    default void clientThatLostOneAnswerToAWriterIsTrustedAgain() {
        clientThatLostOneAnswerIsTrustedAgain(LockKind.WRITE);
    }

    @Needs({Need.SEMAPHORE, Need.PUSHES})
    default void clientThatLostOneAnswerToAClaimOfASemaphoreIsTrustedAgain() {
        clientThatLostOneAnswerIsTrustedAgain(LockKind.SEMAPHORE);
    }

    @Needs(Need.PUSHES)
    default void newcomerPassesTheWaitersOfAClientThatConfirmedNoGrant() {
        newcomerPassesWaitersOfADoubtedClient(LockKind.MUTEX);
    }

    @Needs({Need.READ_WRITE, Need.PUSHES})
    default void newWriterPassesTheWritersOfAClientThatConfirmedNoGrant() {
        newcomerPassesWaitersOfADoubtedClient(LockKind.WRITE);
    }

    @Needs({Need.SEMAPHORE, Need.PUSHES})
    default void newClaimOfASemaphorePassesTheWaitersOfAClientThatConfirmedNoGrant() {
        newcomerPassesWaitersOfADoubtedClient(LockKind.SEMAPHORE);
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
        Object unused = waiter.attempt();
        contest.armed(waiter);
        var answer = waiter.attempt(); // the last one before its turn, if no signal comes
        gone.forEach(this::vanish);
        holder.release();
        waiter.mustBeGrantedWithin(vanishedClientBound(clients), answer);
        return waiter;
    }

    private Contender living(Contest contest, LockKind kind, Waiting waiting) {
        return contest.of(backend(), "living", kind, LONG_LEASE, waiting);
    }

    private void cyclesBesideAVanishedClient(LockKind kind) {
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

    private void newcomerPassesWaitersOfADoubtedClient(LockKind kind) {
        try (Contest contest = new Contest(this)) {
            Contender holder = living(contest, kind, Waiting.NONE);
            holder.mustAcquire();
            LockBackend client = newClient();
            List<Contender> gone = Stream.generate(() -> contest.of(client, "gone", kind, LONG_LEASE, Waiting.QUEUE))
                    .limit(3)
                    .toList();
            gone.forEach(it -> contest.queued(it.vanishing().watching()));
            vanish(client);
            holder.release();
            Contender newcomer = living(contest, kind, Waiting.NONE);
            newcomer.mustBeGrantedWithin(vanishedClientBound(1), newcomer.attempt());
        }
    }
}
