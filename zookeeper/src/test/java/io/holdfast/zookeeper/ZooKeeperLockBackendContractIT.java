package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.LockBackendContract;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import io.holdfast.zookeeper.internal.operation.RecheckInterval;
import io.holdfast.zookeeper.internal.queue.NodeNames;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ZooKeeperLockBackendContractIT implements LockBackendContract {

    /** A client that vanishes. It must first get through the pauses of a busy machine. */
    private static final Duration BRIEF_SESSION = Duration.ofSeconds(2);

    private record Brief(ZooKeeperLockBackend backend, CuratorFramework curator, TcpProxy proxy) {}

    private static final Map<LockBackend, Brief> briefs = new ConcurrentHashMap<>();

    private static Store store;
    private static ZooKeeperLockBackend backend;
    private static ZooKeeperLockBackend another;
    private static LockInspector inspector;

    @BeforeAll
    static void start() {
        store = Store.ofContract();
        backend = ZooKeeperLockBackend.over(lasting());
        another = ZooKeeperLockBackend.over(lasting());
        inspector = ZooKeeperLockBackend.builder(lasting()).inspector();
    }

    @AfterAll
    static void stop() {
        Store.end(backend);
        Store.end(another);
        Waiting.forMono(inspector.close().thenReturn(true));
        store.close();
    }

    private static CuratorFramework lasting() {
        return store.client("contract", store.address(), Store.SESSION);
    }

    /** Otherwise the nodes of a session that goes on, and a driver that connects again and again, burden the tests after it. */
    @AfterEach
    void endBriefSessions() {
        briefs.values().forEach(brief -> {
            brief.proxy().pass();
            brief.proxy().cut();
            Store.end(brief.backend());
            brief.curator().close();
            brief.proxy().close();
        });
        briefs.clear();
    }

    @Override
    public LockBackend backend() {
        return backend;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    @Override
    public LockInspector inspector() {
        return inspector;
    }

    @Override
    public void passTime(Duration time) {
        Waiting.pass(time);
    }

    /** A waiter lives as long as its session, so its next attempt is only a safety net. */
    @Override
    public Duration claimTime() {
        return RecheckInterval.SHORTEST.multipliedBy(3).dividedBy(2);
    }

    /** A client that vanished is gone when its session ends. */
    @Override
    public Duration vanishedClientBound(int clients) {
        return BRIEF_SESSION.plusSeconds(2);
    }

    /** Each has a connection of its own, which {@link #vanish} makes silent, and a short session. */
    @Override
    public LockBackend newClient() {
        TcpProxy proxy = TcpProxy.to(store.host(), store.port());
        CuratorFramework curator = Store.connect("contract", proxy.host() + ':' + proxy.port(), BRIEF_SESSION);
        ZooKeeperLockBackend client = ZooKeeperLockBackend.over(curator);
        briefs.put(client, new Brief(client, curator, proxy));
        return client;
    }

    @Override
    public void vanish(LockBackend client) {
        requireNonNull(briefs.get(client)).proxy().drop(Direction.TO_SERVER, Direction.TO_CLIENT);
    }

    @Override
    public LockBackend clientWithLimit(int maxWaiters) {
        return ZooKeeperLockBackend.builder(lasting()).maxWaiters(maxWaiters).build();
    }

    @Override
    public long serverWork() {
        return store.requests();
    }

    /** A waiter counts as dead when its session ends, not by its attempts. So its lease duration does not matter. */
    @Test
    @Override
    public void waiterHasToSendAnAttemptBeforeItCountsAsDead() {
        LockClaim holder = claim("a");
        LockClaim waiter = claim("b");
        Waiting.forMono(backend.tryAcquire(holder));
        LockAttempt answer = Waiting.forMono(backend.tryAcquire(waiter));
        assertThat(((LockAttempt.Queued) answer).nextAttemptWithin()).isBetween(RecheckInterval.SHORTEST, claimTime());
        Waiting.forMono(backend.release(waiter));
        Waiting.forMono(backend.release(holder));
    }

    /** Nor does the server have the nodes above the queue. */
    @Test
    @Override
    public void attemptsThatDoNotWaitForAnswersTakeTheirPlacesInTheirOrder() {
        store.deleteAll("/contract/holdfast");
        LockBackendContract.super.attemptsThatDoNotWaitForAnswersTakeTheirPlacesInTheirOrder();
    }

    private LockClaim claim(String id) {
        return LockClaim.first(
                LockKey.of(LockKind.MUTEX, "taken for dead"), id, lease(), io.holdfast.spi.Waiting.QUEUE);
    }

    /** The server frees a lock when its session ends, or when a client with the right to do so deletes its node. */
    @Override
    public void makeExpire(LockClaim claim) {
        List<String> nodes = store.claims("/contract/holdfast").stream()
                .filter(path -> path.contains('/' + NodeNames.ofClaim(claim) + '_'))
                .toList();
        nodes.forEach(store::delete);
    }

    /** A holder does not choose the next claim: that claim finds out by an attempt of its own that it is first. */
    @Override
    public boolean pushesGrants() {
        return false;
    }

    @Override
    public Collection<String> leftovers() {
        Stream<String> inTheTree = store.claims("/contract/holdfast").stream();
        Stream<String> known = Stream.of(backend, another).flatMap(it -> Waiting.forMono(it.contents()).stream());
        Stream<String> watches =
                Stream.of(backend, another).filter(it -> it.watchCount() > 0).map(it -> it.watchCount() + " watches");
        return Stream.of(inTheTree, known, watches).flatMap(it -> it).toList();
    }
}
