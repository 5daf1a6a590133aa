package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockQueueFullException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** The first waiters of a mutex, which are a list, and their ways into the queue behind them and back. */
class FrontOfQueueIT {

    private static final String NAME = "orders";
    private static final String HOLDER = Store.holderKey(NAME);
    private static final String FRONT = HOLDER + ":front";

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
    void waitersAreServedInTheirOrderAtTheFrontAndInTheQueue() throws InterruptedException {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(60);
        assertThat(store.redis().zcard(HOLDER + ":queue")).isPositive();
        boolean wasInFront = false;

        for (LockClaim waiter : waiters) {
            assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
            assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(waiter.id());
            wasInFront |= store.redis().llen(FRONT) > 0 && store.redis().zcard(HOLDER + ":queue") > 0;
            holder = waiter;
        }

        assertThat(wasInFront).isTrue();
        assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
        assertThat(store.keys()).filteredOn(key -> key.startsWith(HOLDER)).containsExactly(HOLDER);
        assertThat(store.redis().get(HOLDER)).startsWith("F0");
    }

    @Test
    void aLaterAttemptAndAWithdrawalLeaveTheOrder() {
        held();
        List<LockClaim> waiters = new ArrayList<>(waiting(5));
        assertThat(store.redis().llen(FRONT)).isEqualTo(5);

        assertThat(Store.answer(backend.tryAcquire(waiters.get(3).withAttempt(2))))
                .isInstanceOf(LockAttempt.Queued.class);
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
        assertThat(store.keys()).doesNotContain(FRONT);

        assertThat(Store.answer(backend.release(waiters.remove(1)))).isEqualTo(Ownership.NOT_HELD);
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
    }

    @Test
    void aWithdrawalFromTheFrontLeavesTheOrder() {
        held();
        List<LockClaim> waiters = new ArrayList<>(waiting(5));

        assertThat(Store.answer(backend.release(waiters.remove(1)))).isEqualTo(Ownership.NOT_HELD);

        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
        assertThat(store.keys())
                .as("no tombstone: the server had seen the attempt")
                .doesNotContain(HOLDER + ":gone");
    }

    @Test
    void aNewcomerDoesNotPassTheFrontOfALockWhoseRecordIsGone() throws InterruptedException {
        held();
        LockClaim waiter = waiting(2).get(0);
        store.redis().del(HOLDER);

        assertThat(Store.answer(backend.tryAcquire(Store.claim(NAME)))).isInstanceOf(LockAttempt.Contended.class);

        assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(waiter.id());
        assertThat(Store.answer(backend.renew(waiter))).isInstanceOf(Renewal.Held.class);
    }

    @Test
    void aWaiterThatStoppedTryingIsPassedOver() throws InterruptedException {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(3);
        String[] stale = store.redis().lindex(FRONT, 0).split(" ", 5);
        stale[3] = Long.toString(Long.parseLong(stale[3]) - Store.LEASE.toMillis() * 501);
        assertThat(store.redis().lset(FRONT, 0, String.join(" ", stale))).isEqualTo("OK");

        Store.answer(backend.release(holder));

        assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(waiters.get(1).id());
        assertThat(Store.waiters(store.redis(), HOLDER))
                .containsExactly(waiters.get(2).id());
    }

    @Test
    void waitersKeepTheirOrderWhenTheServersClockWasSetBack() {
        held();
        List<LockClaim> waiters = new ArrayList<>(waiting(1));
        String[] line = store.redis().lindex(FRONT, 0).split(" ", 2);
        String later = Long.parseLong(line[0]) + 3_600_000_000L + " " + line[1];
        assertThat(store.redis().lset(FRONT, 0, later)).isEqualTo("OK");

        waiters.addAll(waiting(30));

        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters));
    }

    @Test
    void aForeignKeyIsNamedAndLeftAlone() {
        LockClaim holder = held();
        waiting(1);
        store.redis().del(FRONT);
        store.redis().set(FRONT, "theirs");
        List<String> before = dump();

        for (LockClaim claim : List.of(Store.claim(NAME, Waiting.QUEUE), Store.claim(NAME, Waiting.NOTIFY))) {
            assertThatThrownBy(() -> Store.answer(backend.tryAcquire(claim)))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("a key of this lock holds a foreign value")
                    .hasMessageContaining("'orders'");
        }
        assertThatThrownBy(() -> Store.answer(backend.release(holder))).isInstanceOf(LockBackendException.class);

        assertThat(dump()).isEqualTo(before);
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
    void theFrontOutlivesItsLongestLease() {
        held();
        waiting(1);
        LockClaim brief = LockClaim.first(Store.claim(NAME).key(), "short", Duration.ofSeconds(1), Waiting.QUEUE);
        watches.add(backend.watch(brief).subscribe());

        assertThat(Store.answer(backend.tryAcquire(brief))).isInstanceOf(LockAttempt.Queued.class);

        assertThat(store.redis().pttl(FRONT)).isGreaterThan(25_000);
    }

    @Test
    void anAttemptThatDoesNotWaitLeavesTheFrontWhereItIs() {
        held();
        waiting(3);

        assertThat(Store.answer(backend.tryAcquire(Store.claim(NAME)))).isInstanceOf(LockAttempt.Contended.class);

        assertThat(store.redis().llen(FRONT)).isEqualTo(3);
    }

    @Test
    void waitersThatCameInOneMicrosecondKeepTheirOrder() throws InterruptedException {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(40);
        Store.answer(backend.tryAcquire(waiters.get(39).withAttempt(2))); // now all are in the queue
        ids(waiters).forEach(id -> store.redis().zadd(HOLDER + ":queue", 1e15, id));
        List<String> order = new ArrayList<>(Store.waiters(store.redis(), HOLDER));
        justGranted();

        Store.answer(backend.release(holder));
        assertThat(granted.poll(10, TimeUnit.SECONDS)).isEqualTo(order.remove(0));
        assertThat(store.redis().llen(FRONT)).isPositive();
        Store.answer(backend.tryAcquire(claim(waiters, order.get(30)).withAttempt(3)));

        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(order);
    }

    /** A first attempt may be stuck on a connection that was given up, for example. */
    @Test
    void aFirstAttemptThatComesAfterALaterOneGivesNoSecondPlace() {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(3);
        Store.answer(backend.tryAcquire(waiters.get(1).withAttempt(2)));
        justGranted();
        Store.answer(backend.release(holder));
        assertThat(store.redis().llen(FRONT)).isEqualTo(2);

        Store.answer(backend.tryAcquire(waiters.get(1)));
        Store.answer(backend.tryAcquire(waiters.get(2).withAttempt(2)));

        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters.subList(1, 3)));
    }

    @Test
    void theLimitCountsTheWaitersAtTheFrontToo() {
        int most = 40;
        Store.end(backend);
        eventually(() -> store.redis().pubsubChannels().isEmpty());
        use(RedisLockBackend.builder(store.uri()).maxWaiters(most).build(), "another");
        LockClaim holder = held();
        List<LockClaim> waiters = new ArrayList<>(waiting(35));
        for (int i = 0; store.redis().llen(FRONT) != 17; i++) {
            justGranted();
            assertThat(Store.answer(backend.release(holder))).isEqualTo(Ownership.HELD);
            holder = waiters.get(i);
        }
        int free = most - (int) Store.waiting(store.redis(), HOLDER);
        waiting(free);

        assertThatThrownBy(() -> waiting(1)).isInstanceOf(LockQueueFullException.class);

        assertThat(Store.waiting(store.redis(), HOLDER)).isEqualTo(most);
    }

    @Test
    void aServerWithoutMemoryStoresNoWaiterBehindTheFront() {
        LockClaim holder = held();
        List<LockClaim> waiters = waiting(20);
        Store.answer(backend.tryAcquire(waiters.get(19).withAttempt(2)));
        justGranted();
        Store.answer(backend.release(holder));
        assertThat(store.redis().llen(FRONT)).isEqualTo(15);
        store.redis().configSet("maxmemory", "1");

        assertThatThrownBy(() -> waiting(1)).isInstanceOf(LockBackendException.class);

        store.redis().configSet("maxmemory", "0");
        assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters.subList(1, 20)));
    }

    @Test
    void theRecordShowsTheFrontWhenTheNextWaitersGetNoMessage() {
        store.user("narrow", "on >secret ~* resetchannels &other +@all");
        RedisLockBackend narrow = RedisLockBackend.create(RedisURI.builder(store.uri())
                .withAuthentication("narrow", "secret")
                .build());
        try {
            LockClaim holder = held();
            List<LockClaim> waiters = waiting(20);
            Store.answer(backend.tryAcquire(waiters.get(19).withAttempt(2)));
            Store.answer(narrow.renew(holder)); // connecting takes time, and the release must come soon after the grant
            justGranted();

            assertThatThrownBy(() -> Store.answer(narrow.release(holder))).isInstanceOf(LockBackendException.class);

            assertThat(store.redis().get(HOLDER))
                    .startsWith("H5")
                    .endsWith(waiters.get(0).id());
            assertThat(Store.waiters(store.redis(), HOLDER)).isEqualTo(ids(waiters.subList(1, 20)));
        } finally {
            Store.end(narrow);
        }
    }

    /** The next waiters are taken over only when the lock changes hands quickly. */
    private void justGranted() {
        store.redis().setrange(HOLDER, 18, Long.toString(store.micros()));
    }

    private static LockClaim claim(List<LockClaim> claims, String id) {
        return claims.stream()
                .filter(claim -> claim.id().equals(id))
                .findFirst()
                .orElseThrow();
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

    private List<String> dump() {
        return store.keys().stream()
                .sorted()
                .map(key -> key + " " + Arrays.toString(store.redis().dump(key)))
                .toList();
    }
}
