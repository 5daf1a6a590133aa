package io.holdfast.proof.sim;

import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockEvent;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.internal.client.SimulatedClients;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.holdfast.testkit.history.HistoryRecorder;
import io.holdfast.testkit.history.LockOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** One process with its client, and the history of its leases. */
final class Member {

    private final String name;
    private final Host host;
    private final World world;
    private final HistoryRecorder recorder;
    private final Supplier<LockClient> opening;
    private final List<LockClient> clients = new ArrayList<>();
    private final Set<LockFeature> features = EnumSet.noneOf(LockFeature.class);
    private final boolean isFair;
    private final boolean delivers;

    /** Whether users' code may block a thread, so that a lease may be over when its user gets it. */
    private final boolean mayBlock;

    private final Mutant mutant;
    private final List<Held> held = new ArrayList<>();

    /** Operations whose outermost lease is released, but whose nested work does not know it yet. */
    private final Set<Long> goingOn = new HashSet<>();

    /** Acquisitions of many locks, and elections. */
    private final Set<Long> together = new HashSet<>();

    /** The least hold times of operations, in nanoseconds. */
    private final Map<Long, Long> leastHolds = new HashMap<>();

    /** When the first grant of an operation reached its client. */
    private final Map<Long, Long> grantedAt = new HashMap<>();

    private final Map<String, Long> operationOf = new HashMap<>();
    private final Set<String> armed = new HashSet<>();
    /** The names of locks, and the tokens of their lost leases. */
    private final Set<String> lostTokens = new HashSet<>();

    private long asking;
    private String askingFor = "";
    private int acquired;
    private int lost;
    private int endedAtServer;
    private int closed;

    /** The last of its clients. */
    private LockClient client;

    /** Called with each event of a client. */
    private Runnable listener = () -> {};

    /** A lease, and until when it is known to be valid. */
    private static final class Held {

        final long operation;
        final LockLease lease;
        long validUntil;

        Held(long operation, LockLease lease, long validUntil) {
            this.operation = operation;
            this.lease = lease;
            this.validUntil = validUntil;
        }
    }

    /**
     * One process.
     *
     * @param identities of its clients, one after the other
     */
    Member(
            String name,
            Host host,
            Store store,
            Plan plan,
            HistoryRecorder recorder,
            Mutant mutant,
            Supplier<ClientIdentity> identities) {
        this.name = name;
        this.host = host;
        this.mutant = mutant;
        this.recorder = recorder;
        world = host.world();
        isFair = plan.is(Plan.Weather.CALM) && store.isFair();
        delivers = UsersCode.delivers(world, plan, host);
        mayBlock = UsersCode.isFaulty(world, plan);
        LockOptions options = LockOptions.builder().leaseDuration(plan.lease()).build();
        @Nullable Scheduler signals = delivers ? host.signals() : null;
        opening = () -> {
            ClientIdentity identity = identities.get();
            LockBackend backend = noting(store.backend(host, identity));
            return SimulatedClients.client(host, identity.bits(), backend, options, this::happened, signals);
        };
        client = open();
        host.afterArrival(this::recordRenewals);
    }

    private LockClient open() {
        LockClient opened = opening.get();
        clients.add(opened);
        return opened;
    }

    /** Closes the client at any moment, and opens another one at once. */
    void reopen() {
        if (host.isDead()) {
            return;
        }
        world.trace("%s closes its client, and opens another one", host);
        LockClient former = client;
        client = open();
        close(former);
        recordRenewals(); // the leases of the former client are invalid at once, even if users hear of it later
    }

    /** Registers a callback for each event. */
    void listener(Runnable told) {
        listener = told;
    }

    /** Wraps the back end to note the operation of each claim, and which claims have a place in the queue. */
    private ForwardingLockBackend noting(LockBackend backend) {
        features.addAll(backend.features());
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return backend.watch(claim).doOnNext(signal -> {
                    if (isFair && signal instanceof WatchSignal.Armed) {
                        armed.add(claim.id());
                    }
                    if (signal instanceof WatchSignal.Granted) {
                        granted(claim);
                    }
                });
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                if (asking != 0 && claim.key().name().equals(askingFor)) { // not of users' code that hears of the start
                    operationOf.putIfAbsent(claim.id(), asking);
                    asking = 0;
                }
                return backend.tryAcquire(claim).doOnNext(answer -> {
                    if (answer instanceof LockAttempt.Acquired) {
                        granted(claim);
                    }
                    Long operation = operationOf.get(claim.id());
                    // A waiter without a subscription is passed over, like a dead one.
                    if (operation != null && armed.contains(claim.id()) && answer instanceof LockAttempt.Queued) {
                        recorder.queued(world.now(), operation);
                    }
                });
            }
        };
    }

    private void happened(LockEvent event) {
        if (event instanceof LockEvent.Lost loss) {
            lost++;
            lostTokens.add(loss.lockName() + ' ' + loss.fencingToken());
        }
        if (world.isTraced()) {
            world.trace("  %s: %s", host, event);
        }
        listener.run();
    }

    Host host() {
        return host;
    }

    /** Returns whether its signals have a thread of their own. */
    boolean delivers() {
        return delivers;
    }

    /** Returns whether a user of this process believes in a lease. */
    boolean holds() {
        return held.stream().anyMatch(it -> it.validUntil > world.now());
    }

    int acquired() {
        return acquired;
    }

    int lost() {
        return lost;
    }

    ReactiveLock lock(LockKey key, LockOptions options) {
        return lock(key, 1, options);
    }

    /** Returns a lock; of a semaphore, each acquisition takes the given number of permits. */
    ReactiveLock lock(LockKey key, int permits, LockOptions options) {
        ReactiveLock lock = switch (key.kind()) {
            case MUTEX -> client.lock(key.name());
            case READ -> client.readWriteLock(key.name()).readLock();
            case WRITE -> client.readWriteLock(key.name()).writeLock();
            case SEMAPHORE -> client.semaphore(key.name(), key.permits()).permits(permits);
        };
        return mutant.lock().apply(host, lock.with(options));
    }

    ReactiveMultiLock all(ReactiveLock... locks) {
        return mutant.many().apply(client.all(locks), List.of(locks));
    }

    LeaderElection election(LockKey key, LockOptions options) {
        return mutant.election()
                .of(
                        client.election(key.name()).with(options),
                        client.lock(key.name()).with(options),
                        host);
    }

    /** Starts the operation of one lock in an acquisition of many, or in an election. */
    long asksTogether(LockKey key) {
        return asksTogether(key, 1);
    }

    long asksTogether(LockKey key, int permits) {
        asking = 0;
        long operation = recorder.asked(world.now(), key, permits);
        together.add(operation);
        return operation;
    }

    /** Returns whether the operation began by {@link #asksTogether}. */
    boolean askedTogether(LockOperation operation) {
        return operation.process().equals(name) && together.contains(operation.number());
    }

    /** Starts the operation of an acquisition. The caller subscribes right afterwards. */
    long asks(LockKey key, int permits) {
        asking = recorder.asked(world.now(), key, permits);
        askingFor = key.name();
        return asking;
    }

    void holdsAtLeast(long operation, Duration least) {
        world.trace("%s#%d keeps it for %s at least", host, operation, least);
        leastHolds.put(operation, least.toNanos());
    }

    private void granted(LockClaim claim) {
        Long operation = operationOf.get(claim.id());
        if (operation != null) {
            grantedAt.putIfAbsent(operation, world.now());
        }
    }

    /** Returns when the first grant of the operation reached its client; empty for operations of other members. */
    OptionalLong grantedAt(LockOperation operation) {
        Long at = operation.process().equals(name) ? grantedAt.get(operation.number()) : null;
        return at == null ? OptionalLong.empty() : OptionalLong.of(at);
    }

    /** Returns the time of {@link #holdsAtLeast}; 0 if it was not set, for a lost lease, and for operations of other members. */
    long leastHold(LockOperation operation) {
        boolean isOwn = operation.process().equals(name)
                && !lostTokens.contains(operation.lock().name() + ' ' + operation.token());
        return isOwn ? leastHolds.getOrDefault(operation.number(), 0L) : 0;
    }

    /** The next lease must have a higher token than this one. */
    long goesOn(LockKey key, long token) {
        asking = 0;
        return recorder.goesOn(world.now(), key, token);
    }

    Mono<LockLease> adopt(String text) {
        return client.adopt(text);
    }

    boolean canDowngrade() {
        return features.contains(LockFeature.DOWNGRADE);
    }

    boolean canHoldAtLeast() {
        return features.contains(LockFeature.MIN_HOLD);
    }

    boolean canHandOn() {
        return features.contains(LockFeature.HAND_ON);
    }

    void acquired(long operation, LockLease lease) {
        long until = validUntil(lease);
        if (mayBlock && until <= world.now()) {
            gaveUp(operation, "was over when users' code was called");
            return;
        }
        acquired++;
        recorder.acquired(world.now(), operation, lease.fencingToken(), until);
        held.add(new Held(operation, lease, until));
        if (world.isTraced()) {
            world.trace("%s#%d HOLDS token %d until %.3f", host, operation, lease.fencingToken(), until / 1e6);
        }
    }

    /** The user stops believing in the lease: it is released, or its work was cancelled. */
    void ends(long operation, String how) {
        if (isOver(operation)) {
            world.trace("%s#%d %s", host, operation, how);
            recorder.releaseAsked(world.now(), operation);
        }
    }

    void loses(long operation, String reason) {
        if (isOver(operation)) {
            recorder.lost(world.now(), operation, reason);
        }
    }

    private boolean isOver(long operation) {
        boolean wasHeld = held.removeIf(it -> it.operation == operation);
        return goingOn.remove(operation) || wasHeld;
    }

    /** The outermost lease is about to be released. Nested work believes in it until it gets the end, and does not check the lease any more. */
    void goesOn(long operation) {
        if (held.removeIf(it -> it.operation == operation)) {
            world.trace("%s#%d continues in nested work", host, operation);
            boolean unused = goingOn.add(operation);
        }
    }

    /** For example a lease that was adopted after its end. The server forgets such a lease by itself, some time later. */
    void doesNotContinue(long operation, Throwable error) {
        endedAtServer++;
        gaveUp(operation, "does not continue: " + error.getMessage());
    }

    /** The server may end the lease before the adoption reaches it. */
    void adoptsLate() {
        endedAtServer++;
    }

    /** Returns whether the server alone ended a lease, or may have done so. */
    boolean leftALease() {
        return endedAtServer > 0;
    }

    void gaveUp(long operation, String how) {
        world.trace("%s#%d ended: %s", host, operation, how);
        recorder.ended(world.now(), operation, how);
    }

    /** Notes new validities: the last message may have been the answer to a renewal. */
    private void recordRenewals() {
        for (Held one : List.copyOf(held)) {
            long until = validUntil(one.lease);
            if (until <= world.now()) {
                recorder.invalid(world.now(), one.operation);
                held.remove(one);
            } else if (until > one.validUntil + 1_000) {
                one.validUntil = until;
                recorder.valid(world.now(), one.operation, until);
            }
        }
    }

    /** Rounded down, so that the history never shows a longer belief than the client has. */
    private long validUntil(LockLease lease) {
        return world.now() + host.trueNanos(lease.remaining().toNanos()) - 2;
    }

    /** Sends a request that the history does not note. A server that does not know yet that the session has moved finds out by it. */
    void speak() {
        client.lock("words").tryAcquire().flatMap(LockLease::release).subscribe(nothing -> {}, error -> {});
    }

    void close() {
        close(client);
    }

    private void close(LockClient ending) {
        ending.close().subscribe(nothing -> {}, error -> world.defect("close failed: " + error, error), () -> closed++);
    }

    boolean isClosed() {
        return closed == clients.size();
    }

    /** Returns what its clients still keep after their close; empty if they keep nothing. */
    String remains() {
        return clients.stream()
                .map(Object::toString)
                .filter(all -> !all.contains("0 acquiring, 0 held, 0 releasing, 0 alarms"))
                .collect(Collectors.joining(", "));
    }
}
