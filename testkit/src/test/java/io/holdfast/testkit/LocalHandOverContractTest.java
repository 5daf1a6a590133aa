package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;

import io.holdfast.LocalHandOver;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * The contract of a back end, for a back end that hands over, between the claims of one process and between two
 * processes.
 */
class LocalHandOverContractTest implements LockBackendContract {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final LockBackend backend =
            LocalHandOver.builder(store).timer(clock).build();
    private final Map<LockBackend, Network> networks = new HashMap<>();
    private final LockBackend another =
            LocalHandOver.builder(store).timer(clock).build();

    @Override
    public LockBackend backend() {
        return backend;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    /** Inside a process, a claim waits behind those that came before it, watched or not. */
    @Override
    public Set<String> openPoints() {
        return Set.of("newcomerPassesAWaiterWithoutAWatch");
    }

    /** Makes a process of its own. */
    @Override
    public LockBackend newClient() {
        Network network = new Network(store, new AtomicBoolean());
        LockBackend client = LocalHandOver.builder(network).timer(clock).build();
        networks.put(client, network);
        return client;
    }

    /** A process that hangs sends nothing: otherwise, the hand-over itself would confirm the grant. */
    @Override
    public void vanish(LockBackend client) {
        requireNonNull(networks.get(client)).isCut().set(true);
    }

    /** The hand-over receives the grant, not its claims. So it is the hand-over that misses one here. */
    @Test
    @Override
    public void clientThatLostOneAnswerToAClaimOfAMutexIsTrustedAgain() {
        try (Contest contest = new Contest(this)) {
            Contender holder = contest.holder();
            LockBackend process = newClient();
            Contender first = inQueue(contest, process);
            Contender second = inQueue(contest, process);
            Contender waiter = inQueue(contest, backend);
            vanish(process);
            holder.release();
            waiter.mustBeGrantedWithin(vanishedClientBound(1), waiter.attempt());

            requireNonNull(networks.get(process)).isCut().set(false);
            passTime(contest.patience());
            first.mustQueue();
            waiter.release();
            first.mustBePushed();
            first.mustHold();
            first.release();
            second.mustBePushed();
        }
    }

    private static Contender inQueue(Contest contest, LockBackend process) {
        Contender waiter = contest.of(process, "of-" + process.hashCode(), LockKind.MUTEX, Contest.LONG, Waiting.QUEUE);
        return contest.queued(waiter.watching());
    }

    @Override
    public LockInspector inspector() {
        return store.inspector();
    }

    @Override
    public void passTime(Duration time) {
        clock.advanceTimeBy(time);
    }

    @Override
    public Collection<String> leftovers() {
        List<String> left = new ArrayList<>(store.contents());
        if (remembersClaims()) {
            forgetLostOwners();
        }
        if (remembersClaims()) {
            left.add(backend.toString());
        }
        return left;
    }

    private boolean remembersClaims() {
        return !backend.toString().equals("LocalHandOver[%s]".formatted(store));
    }

    /**
     * The back end remembers an owner that has lost the lock for two lease durations, since a request of it may be
     * under way. Requests for other locks remove it after that time.
     */
    private void forgetLostOwners() {
        clock.advanceTimeBy(lease().multipliedBy(3));
        Flux.range(0, 200)
                .map(n -> LockClaim.first(LockKey.of(LockKind.MUTEX, "other" + n), "o" + n, lease(), Waiting.QUEUE))
                .concatMap(other -> backend.tryAcquire(other).then(backend.release(other)))
                .blockLast();
    }

    /** The network between a process and the back end. If it is cut, only releases arrive. */
    private record Network(LockBackend delegate, AtomicBoolean isCut) implements ForwardingLockBackend {
        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return Mono.defer(() -> isCut.get() ? Mono.never() : delegate.tryAcquire(claim));
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return Mono.defer(() -> isCut.get() ? Mono.never() : delegate.renew(claim));
        }

        @Override
        public Flux<WatchSignal> watch(LockClaim claim) {
            return delegate.watch(claim).filter(signal -> !isCut.get());
        }
    }
}
