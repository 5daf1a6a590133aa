package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;

import io.etcd.jetcd.Client;
import io.holdfast.LockInspector;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.testkit.LockBackendContract;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class EtcdLockBackendContractIT implements LockBackendContract {

    private static final Duration PRESENCE = Duration.ofSeconds(2);

    private record Brief(EtcdLockBackend backend, Client client, TcpProxy proxy) {}

    private static final Map<LockBackend, Brief> briefs = new ConcurrentHashMap<>();

    private static EtcdStore store;
    private static EtcdLockBackend backend;
    private static EtcdLockBackend another;
    private static LockInspector inspector;

    @BeforeAll
    static void start() {
        store = EtcdStore.start();
        backend = EtcdLockBackend.over(store.client());
        another = EtcdLockBackend.over(store.client());
        inspector = EtcdLockBackend.builder(store.client()).inspector();
    }

    @AfterAll
    static void stop() {
        if (store != null) {
            Stream.of(backend.close(), another.close(), inspector.close())
                    .forEach(it -> Waiting.forMono(it.thenReturn(true)));
            store.close();
        }
    }

    @AfterEach
    void endBriefClients() {
        briefs.values().forEach(brief -> {
            brief.proxy().pass();
            brief.proxy().cut();
        });
        Waiting.forMono(Flux.fromIterable(briefs.values())
                .flatMap(brief -> brief.backend().close())
                .then(Mono.just(true)));
        briefs.values().forEach(brief -> {
            brief.client().close();
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

    /** The client of a silent claim ends it by a request, which a busy machine delays. */
    @Override
    public void makeExpire(LockClaim claim) {
        passTime(claim.lease().plusMillis(400));
    }

    @Override
    public Duration lease() {
        return Duration.ofSeconds(1);
    }

    /** A claim that is next holds the lock by its place, so its next attempt is only a safety net. */
    @Override
    public Duration claimTime() {
        return Duration.ofSeconds(20);
    }

    /** etcd revokes a lease up to a second late. */
    @Override
    public Duration vanishedClientBound(int clients) {
        return PRESENCE.plusSeconds(3);
    }

    @Override
    public LockBackend newClient() {
        TcpProxy proxy = TcpProxy.to("127.0.0.1", store.server().port());
        Client client = Client.builder()
                .endpoints("http://" + proxy.host() + ':' + proxy.port())
                .build();
        EtcdLockBackend made = EtcdLockBackend.builder(client)
                .presence(PRESENCE)
                .answerLimit(Duration.ofMillis(500))
                .build();
        briefs.put(made, new Brief(made, client, proxy));
        return made;
    }

    @Override
    public void vanish(LockBackend client) {
        requireNonNull(briefs.get(client)).proxy().drop(Direction.TO_SERVER, Direction.TO_CLIENT);
    }

    @Override
    public LockBackend clientWithLimit(int maxWaiters) {
        return EtcdLockBackend.builder(store.client()).maxWaiters(maxWaiters).build();
    }

    /** A claim learns by an attempt of its own that it is first. */
    @Override
    public boolean pushesGrants() {
        return false;
    }

    @Override
    public Collection<String> leftovers() {
        Stream<String> known = Stream.of(backend, another).flatMap(it -> it.contents().stream());
        return Stream.concat(store.claims().stream(), known).toList();
    }
}
