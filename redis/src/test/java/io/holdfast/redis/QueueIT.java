package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** The queue of a mutex. */
class QueueIT {

    private static final String NAME = "orders";
    private static final String HOLDER = Store.holderKey(NAME);

    private Store store;
    private RedisLockBackend backend;
    private final BlockingQueue<String> granted = new LinkedBlockingQueue<>();
    private final Disposable.Composite watches = Disposables.composite();

    @BeforeEach
    void start() {
        store = Store.start();
        use(store.backend(), "other");
    }

    /** Waits once. */
    private void use(RedisLockBackend used, String name) {
        backend = used;
        LockClaim other = Store.claim(name);
        LockClaim waiter = Store.claim(name, Waiting.QUEUE);
        assertThat(Store.answer(backend.tryAcquire(other))).isInstanceOf(LockAttempt.Acquired.class);
        watches.add(backend.watch(waiter).subscribe());
        assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
    }

    @AfterEach
    void stop() {
        watches.dispose();
        Store.end(backend);
        store.close();
    }

    @Test
    void waitersAreServedInTheirOrder() throws InterruptedException {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(60);

        for (LockClaim waiter : waiters) {
            assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
            assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(waiter.id());
            holder = waiter;
        }

        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.keys()).filteredOn(key -> key.startsWith(HOLDER)).containsExactly(HOLDER);
        assertThat(store.redis().get(HOLDER)).startsWith("1F0");
    }

    @Test
    void aLaterAttemptAndAWithdrawalLeaveTheOrder() {
        held();
        List<LockClaim> waiters = new ArrayList<>(waiting(5));

        assertThat(Store.answer(backend.tryAcquire(waiters.get(3).withAttempt(2))))
                .isInstanceOf(LockAttempt.Queued.class);
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));

        assertThat(Store.answer(backend.release(waiters.remove(1)))).isEqualTo(Ownership.NOT_HELD);
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
        assertThat(store.keys())
                .as("no tombstone: the server had seen the attempt")
                .doesNotContain(HOLDER + ":gone");
    }

    @Test
    void aNewcomerDoesNotPassTheQueueOfALockWhoseRecordIsGone() throws InterruptedException {
        held();
        LockClaim waiter = waiting(2).get(0);
        store.redis().del(HOLDER);

        assertThat(Store.answer(backend.tryAcquire(Store.claim(NAME)))).isInstanceOf(LockAttempt.Contended.class);

        assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(waiter.id());
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
    }

    /** Otherwise living waiters would lose their places when the queue ends. */
    @Test
    void theQueueLastsAsLongAsTheEntriesOfItsWaiters() {
        held();
        LockClaim waiter = waiting(1).get(0);
        shorten();

        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);

        assertThat(store.redis().pttl(HOLDER + ":queue"))
                .isGreaterThanOrEqualTo(store.redis().pttl(HOLDER + ":claims"));
    }

    @Test
    void aRenewalOfARunKeepsTheQueueAsLongAsTheEntriesOfItsWaiters() {
        LockClaim holder = held();
        List<LockClaim> members = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            LockClaim member = Store.claim(NAME, Waiting.QUEUE).withClient("client");
            watches.add(backend.watch(member).subscribe());
            assertThat(Store.answer(backend.tryAcquire(member))).isInstanceOf(LockAttempt.Queued.class);
            members.add(member);
        }
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.redis().llen(HOLDER + ":held"))
                .as("the number of the run and its members")
                .isEqualTo(3);
        shorten();

        assertThat(Store.answer(backend.renew(members.get(0)))).isInstanceOf(Renewal.Held.class);

        assertThat(store.redis().pttl(HOLDER + ":queue"))
                .isGreaterThanOrEqualTo(store.redis().pttl(HOLDER + ":claims"));
    }

    /** Of two keys, one is due to last longer, the other one is not yet. */
    private void shorten() {
        assertThat(store.redis().pexpire(HOLDER + ":claims", Store.LEASE.toMillis() - 1))
                .isTrue();
        assertThat(store.redis()
                        .pexpire(HOLDER + ":queue", Store.LEASE.plusSeconds(5).toMillis()))
                .isTrue();
    }

    /** The waiters of one call have the same time. */
    @Test
    void waitersThatCameAtOnceKeepTheirOrder() {
        LockClaim holder = held();
        Map<String, LockClaim> waiters = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            LockClaim waiter = Store.claim(NAME, Waiting.QUEUE);
            waiters.put(waiter.id(), waiter);
            watches.add(backend.watch(waiter).subscribe());
        }
        assertThat(Store.answer(Flux.fromIterable(waiters.values())
                        .flatMap(backend::tryAcquire, 100)
                        .filter(LockAttempt.Queued.class::isInstance)
                        .count()))
                .isEqualTo(100);
        List<String> order = Store.waiters(store.redis(), HOLDER);
        assertThat(order).containsExactlyInAnyOrderElementsOf(waiters.keySet());

        for (int i = 0; i < 60; i++) {
            assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
            holder = waiters.get(order.get(0)).withAttempt(2);
            order = order.subList(1, order.size());
            assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(order);

            LockClaim again = waiters.get(order.get(i % 7)).withAttempt(2);
            assertThat(Store.answer(backend.tryAcquire(again))).isInstanceOf(LockAttempt.Queued.class);
            assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(order);
        }
    }

    @Test
    void theQueueOutlivesItsLongestLease() {
        held();
        waiting(1);
        LockClaim brief = LockClaim.first(Store.claim(NAME).key(), "short", Duration.ofSeconds(1), Waiting.QUEUE);
        watches.add(backend.watch(brief).subscribe());

        assertThat(Store.answer(backend.tryAcquire(brief))).isInstanceOf(LockAttempt.Queued.class);

        assertThat(store.redis().pttl(HOLDER + ":queue")).isGreaterThan(25_000);
        assertThat(store.redis().pttl(HOLDER + ":claims")).isGreaterThan(25_000);
    }

    /** A first attempt may be stuck on a connection that was given up, for example. */
    @Test
    void aFirstAttemptThatComesAfterALaterOneGivesNoSecondPlace() {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(3);
        Store.answer(backend.tryAcquire(waiters.get(1).withAttempt(2)));
        Store.answer(backend.release(holder));

        Store.answer(backend.tryAcquire(waiters.get(1)));
        Store.answer(backend.tryAcquire(waiters.get(2).withAttempt(2)));

        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters.subList(1, 3)));
    }

    @Test
    void aServerWithoutMemoryStoresNoWaiter() {
        held();
        List<LockClaim> waiters = waiting(3);
        store.redis().configSet("maxmemory", "1");

        assertThatThrownBy(() -> waiting(1)).isInstanceOf(LockBackendException.class);

        store.redis().configSet("maxmemory", "0");
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
        assertThat(store.redis().hkeys(HOLDER + ":claims")).containsExactlyInAnyOrderElementsOf(ids(waiters));
    }

    @ParameterizedTest
    @CsvSource({
        "F01795346365559056, older, delete its keys",
        "H0179534646302317953463655590561 30000 x, older, delete its keys",
        "2F01795346365559056, newer, upgrade this client"
    })
    void aLockInAnotherFormIsNamedAndLeftAloneUntilItIsDeleted(String record, String whose, String remedy) {
        store.redis().set(HOLDER, record);

        assertThatThrownBy(() -> Store.answer(backend.tryAcquire(Store.claim(NAME, Waiting.QUEUE))))
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        e -> assertThat(e.isTransient()).isFalse())
                .hasMessageContaining("version of this library has written the lock")
                .hasMessageContaining(whose)
                .hasMessageContaining(remedy);
        assertThatThrownBy(() -> Store.answer(backend.release(Store.claim(NAME))))
                .hasMessageContaining(whose);
        assertThat(Store.answer(backend.renew(Store.claim(NAME)))).isInstanceOf(Renewal.NotHeld.class);

        assertThat(store.keys()).filteredOn(key -> key.startsWith(HOLDER)).containsExactly(HOLDER);
        assertThat(store.redis().get(HOLDER)).isEqualTo(record);

        store.redis().del(HOLDER);
        assertThat(Store.answer(backend.tryAcquire(Store.claim(NAME)))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(store.token(HOLDER)).isGreaterThan(1795346365559056L);
    }

    /** Another client has waited for longer, so the lease of its push would count from earlier. */
    @Test
    void anAttemptThatFindsARunIsPromisedNoMoreThanTheServerKeeps() {
        LockKey key = LockKey.of(LockKind.MUTEX, NAME);
        LockClaim brief = LockClaim.first(key, "brief", Duration.ofMillis(500), Waiting.NONE);
        assertThat(Store.answer(backend.tryAcquire(brief))).isInstanceOf(LockAttempt.Acquired.class);
        List<LockClaim> members = members(2);
        LockClaim last = Store.claim(NAME, Waiting.QUEUE).withClient("client");
        watches.add(backend.watch(last).subscribe());

        LockAttempt answer = Store.answer(backend.tryAcquire(last));
        for (int attempt = 2; !(answer instanceof LockAttempt.AcquiredRun); attempt++) {
            answer = Store.answer(backend.tryAcquire(last.withAttempt(attempt)));
        }

        LockAttempt.AcquiredRun granted = (LockAttempt.AcquiredRun) answer;
        assertThat(granted.run().members())
                .containsExactly(members.get(0).id(), members.get(1).id(), last.id());
        assertThat(granted.lease())
                .as("the grant ends with the claim time, unless it is confirmed")
                .isLessThanOrEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void membersKeepTheirPlacesWhileTheirRunIsRenewed() {
        List<LockClaim> members = members(run(3));
        List<String> keys = List.of(HOLDER + ":queue", HOLDER + ":claims", HOLDER + ":held");
        keys.forEach(key -> store.redis().pexpire(key, 5_000));

        assertThat(Store.answer(backend.renew(members.get(0)))).isInstanceOf(Renewal.Held.class);

        assertThat(keys).allSatisfy(key -> assertThat(store.redis().pttl(key)).isGreaterThan(30_000));
    }

    /** The server does not know any more whom to take out of the queue. So it grants them once more, and the client ends that run, too. */
    @Test
    void aRunWhoseMembersTheServerHasLostCanBeEnded() {
        LockRun run = run(3);
        LockClaim owner = members(run).get(0);
        store.redis().del(HOLDER + ":held");

        LockRun.End end = Store.answer(backend.endRun(owner, run.number(), 3));
        assertThat(end.ownership()).isEqualTo(Ownership.HELD);
        LockRun again = end.next().orElseThrow().run();
        assertThat(again.number()).isGreaterThan(run.lastToken());

        assertThat(Store.answer(backend.endRun(owner, again.number(), 3)).next())
                .isEmpty();
        assertThat(Store.answer(backend.renew(owner))).isInstanceOf(Renewal.NotHeld.class);
        assertThat(Store.waiters(store.redis(), HOLDER)).isEmpty();
    }

    /** It hung for so long that its place was set aside, and what was aside has expired. */
    @Test
    void aWaiterWhosePlaceIsLostGetsANewOne() {
        held();
        LockClaim waiter = waiting(1).get(0);
        store.redis().zrem(HOLDER + ":queue", waiter.id());
        store.redis().setrange(HOLDER, 2, "5");

        assertThat(Store.answer(backend.tryAcquire(waiter.withAttempt(2)))).isInstanceOf(LockAttempt.Queued.class);

        assertThat(Store.waiters(store.redis(), HOLDER)).containsExactly(waiter.id());
    }

    private LockRun run(int size) {
        LockClaim holder = held();
        List<LockClaim> members = members(size);
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        return ((LockAttempt.AcquiredRun)
                        Store.answer(backend.tryAcquire(members.get(0).withAttempt(2))))
                .run();
    }

    private List<LockClaim> members(LockRun run) {
        return run.members().stream()
                .map(id -> LockClaim.first(LockKey.of(LockKind.MUTEX, NAME), id, Store.LEASE, Waiting.QUEUE)
                        .withClient("client")
                        .withAttempt(2))
                .toList();
    }

    private List<LockClaim> members(int count) {
        List<LockClaim> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LockClaim member = Store.claim(NAME, Waiting.QUEUE).withClient("client");
            watches.add(backend.watch(member).subscribe());
            assertThat(Store.answer(backend.tryAcquire(member))).isInstanceOf(LockAttempt.Queued.class);
            members.add(member);
        }
        return members;
    }

    @CanIgnoreReturnValue
    private LockClaim held() {
        LockClaim holder = Store.claim(NAME);
        assertThat(Store.answer(backend.tryAcquire(holder))).isInstanceOf(LockAttempt.Acquired.class);
        return holder;
    }

    @CanIgnoreReturnValue
    private List<LockClaim> waiting(int count) {
        List<LockClaim> waiters = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LockClaim waiter = Store.claim(NAME, Waiting.QUEUE);
            watches.add(backend.watch(waiter)
                    .filter(WatchSignal.Granted.class::isInstance)
                    .subscribe(signal -> granted.add(waiter.id())));
            assertThat(Store.answer(backend.tryAcquire(waiter))).isInstanceOf(LockAttempt.Queued.class);
            waiters.add(waiter);
        }
        return waiters;
    }

    private static List<String> ids(List<LockClaim> claims) {
        return claims.stream().map(LockClaim::id).toList();
    }
}
