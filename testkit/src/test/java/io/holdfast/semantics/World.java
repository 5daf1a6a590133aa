package io.holdfast.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.FaultProgram;
import io.holdfast.testkit.FaultyLockBackend;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;
import reactor.test.subscriber.TestSubscriber;

/**
 * One back end in virtual time, a client whose requests meet faults, and a rival whose requests do not. After each test
 * both are closed, and nothing may be left: no claim at the back end, no task on the clock.
 */
final class World implements AfterEachCallback {

    static final String NAME = "stock/42";
    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration OPERATION_TIMEOUT = Duration.ofSeconds(2);
    static final Duration MOMENT = Duration.ofMillis(1);

    final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    final Map<String, LockClaim> claims = new ConcurrentHashMap<>();
    final FaultyLockBackend faulty = FaultyLockBackend.over(noting(store), clock);
    final List<LockEvent> events = new CopyOnWriteArrayList<>();
    final LockClient client;
    final LockClient rival =
            LockClient.builder(store).timer(clock).closeBackend(false).build();

    World() {
        client = client(LockOptions.defaults());
    }

    /** Records the last claim for each lock. */
    private ForwardingLockBackend noting(LockBackend backend) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                claims.put(claim.key().name(), claim);
                return backend.tryAcquire(claim);
            }
        };
    }

    LockClient client(LockOptions options) {
        return client(builder -> builder.options(options));
    }

    LockClient client(UnaryOperator<LockClient.Builder> settings) {
        LockClient.Builder builder =
                LockClient.builder(faulty).timer(clock).listener(events::add).closeBackend(false);
        return settings.apply(builder).build();
    }

    ReactiveLock lock() {
        return client.lock(NAME);
    }

    ReactiveLock lock(UnaryOperator<LockOptions.Builder> settings) {
        return lock().with(settings.apply(LockOptions.builder()).build());
    }

    ReactiveLock rivalLock() {
        return rival.lock(NAME);
    }

    FaultProgram on(Operation operation) {
        return faulty.on(operation);
    }

    void pass(Duration time) {
        clock.advanceTimeBy(time);
    }

    <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        pass(Duration.ZERO);
        return subscriber;
    }

    static boolean isGrant(WatchSignal signal) {
        return signal instanceof WatchSignal.Granted || signal instanceof WatchSignal.GrantedRun;
    }

    /** Subscribes, and expects a grant at once. */
    LockLease granted(Mono<LockLease> acquire) {
        return only(subscribe(acquire));
    }

    <T> T only(TestSubscriber<T> subscriber) {
        pass(Duration.ZERO);
        assertThat(subscriber.getReceivedOnNext()).hasSize(1);
        return subscriber.getReceivedOnNext().get(0);
    }

    /** Frees the lock without its holder, as an operator does by deleting a key. */
    void takeAway(String name) {
        LockClaim claim = claims.get(name);
        subscribe(store.release(claim));
    }

    <E extends LockEvent> List<E> events(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        faulty.heal();
        subscribe(client.close());
        subscribe(rival.close());
        pass(OPERATION_TIMEOUT);
        assertThat(client.toString()).contains("0 acquiring, 0 held, 0 releasing, 0 alarms");
        assertThat(store.contents()).isEmpty();
    }
}
