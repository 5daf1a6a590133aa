package io.holdfast.internal;

import io.holdfast.ClientReport;
import io.holdfast.LockClosedException;
import io.holdfast.LockOptions;
import io.holdfast.internal.AlarmClock.Alarm;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * The parts that a whole client shares: the back end, the clock, the options, and the list of all that is under way.
 */
final class Engine {

    static final Duration LONGEST_DEFAULT_OPERATION = Duration.ofSeconds(2);

    final LockBackend backend;
    final AlarmClock alarms;
    final Delivery delivery;
    final Events events;
    final Renewals renewals;
    final ClaimIds ids;
    final Admission admission;
    final long gridPhaseNanos;

    /** The ids of released claims that keep their locks for the rest of a least hold time. Written by release loops. */
    final Set<String> keptClaims = ConcurrentHashMap.newKeySet();

    private final @Nullable Duration operationTimeout;
    private final Chance chance;
    private final Members members = new Members();
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private final Sinks.Empty<Void> drained = Sinks.empty();

    /** Written once, by the first drain. */
    private volatile boolean draining;

    /** Written once, by the close. */
    private volatile boolean closed;

    /** Written before {@code closed}, when it is the reason for it. */
    private volatile boolean timerDied;

    Engine(
            LockBackend backend,
            Scheduler timer,
            @Nullable Scheduler deliverOn,
            Events events,
            @Nullable Duration operationTimeout,
            int maxWaiters,
            Chance chance,
            String owner) {
        this.backend = backend;
        delivery = new Delivery(deliverOn);
        this.events = events;
        this.operationTimeout = operationTimeout;
        admission = new Admission(maxWaiters);
        renewals = new Renewals(this);
        alarms = new AlarmClock(timer, renewals::flush, this::timerDied);
        this.chance = chance;
        ids = chance.ids(owner);
        gridPhaseNanos = chance.seed().phase() >>> 1;
    }

    double random() {
        return chance.next();
    }

    Duration operationTimeout(LockOptions options) {
        Duration lease = options.leaseDuration();
        if (operationTimeout == null) {
            // Not dividedBy(), which uses BigDecimal: this runs for each lock that has options of its own.
            Duration quarter = Duration.ofNanos(lease.toNanos() / 4);
            return quarter.compareTo(LONGEST_DEFAULT_OPERATION) < 0 ? quarter : LONGEST_DEFAULT_OPERATION;
        }
        if (operationTimeout.compareTo(lease.dividedBy(3)) > 0) {
            throw new IllegalArgumentException(
                    "three operation timeouts must fit into a lease, but operationTimeout is %s and leaseDuration is %s: a renewal at a third of the lease could not be repeated in time"
                            .formatted(operationTimeout, lease));
        }
        return operationTimeout;
    }

    boolean isClosed() {
        return closed;
    }

    /** Returns whether an acquisition may not go on. While the client drains, only the work of a holder may acquire. */
    boolean refuses(Acquisition acquisition) {
        return closed || (draining && !acquisition.isPartOfWork());
    }

    /** An acquisition that is opened during the close or the drain is refused when it begins: it is added first. */
    void open(Acquisition acquisition) {
        alarms.checkTimer();
        members.add(acquisition);
    }

    void ended(Acquisition acquisition) {
        if (members.remove(acquisition)) {
            acquisition.leaveAdmission();
        }
        completeWhenIdle();
        completeWhenDrained();
    }

    void open(HeldLease lease) {
        members.add(lease);
        if (closed) {
            lease.close();
        }
    }

    void ended(HeldLease lease) {
        boolean unused = members.remove(lease);
        if (draining) {
            closeRefused(); // its work may have left waiters behind
        }
        completeWhenIdle();
        completeWhenDrained();
    }

    void open(ReleaseLoop release) {
        members.add(release);
    }

    boolean ended(ReleaseLoop release) {
        boolean first = members.remove(release);
        completeWhenIdle();
        return first;
    }

    ClientReport report() {
        Members.Some<HeldLease> held = members.some(HeldLease.class, HeldLease::isHeld, ClientReport.MOST);
        Members.Some<Acquisition> waiting = members.some(Acquisition.class, acquisition -> true, ClientReport.MOST);
        return new ClientReport(
                held.count(),
                held.oldest().stream().map(HeldLease::report).toList(),
                waiting.count(),
                waiting.oldest().stream().map(Acquisition::report).toList());
    }

    /** Ends all waits and lets leases go on, and signals when no lease is left. */
    Mono<Void> drain() {
        draining = true;
        closeRefused();
        completeWhenDrained();
        return drained.asMono();
    }

    private void closeRefused() {
        members.all(Acquisition.class).stream().filter(this::refuses).forEach(Acquisition::close);
    }

    /** Ends all that is under way, and signals when nothing is left. */
    Sinks.Empty<Void> shutDown() {
        closed = true;
        members.all(Acquisition.class).forEach(Acquisition::close);
        members.all(HeldLease.class).forEach(HeldLease::close);
        completeWhenIdle();
        return idle;
    }

    /**
     * Closes the client: without its owner's clock it can promise nothing. All that is under way ends on the clock of
     * the fallback.
     */
    private void timerDied() {
        timerDied = true;
        closed = true;
        alarms.set(
                Alarm.of(() -> {
                    Sinks.Empty<Void> unused = shutDown();
                }),
                alarms.now());
    }

    LockClosedException closedException(String lockName) {
        if (!closed) {
            return LockClosedException.draining(lockName);
        }
        return timerDied
                ? new LockClosedException(lockName, "its timer was disposed")
                : new LockClosedException(lockName);
    }

    /** Stops waiting for the rest. */
    void abandonRest() {
        alarms.close(); // ends the requests in flight; a claim that has to be withdrawn then gets one release
        members.all(ReleaseLoop.class).forEach(ReleaseLoop::stop);
        Sinks.EmitResult unused = drained.tryEmitEmpty();
    }

    private void completeWhenIdle() {
        if (closed && members.isEmpty()) {
            Sinks.EmitResult unused = idle.tryEmitEmpty();
        }
    }

    /** Counts acquisitions too: another thread may be about to open the lease of one that was granted. */
    private void completeWhenDrained() {
        if (draining && !members.any(member -> member instanceof HeldLease || member instanceof Acquisition)) {
            Sinks.EmitResult unused = drained.tryEmitEmpty();
        }
    }

    @Override
    public String toString() {
        return "Engine[%s, %d acquiring, %d held, %d releasing, %d alarms]"
                .formatted(
                        backend.name(),
                        members.all(Acquisition.class).size(),
                        members.all(HeldLease.class).size(),
                        members.all(ReleaseLoop.class).size(),
                        alarms.size());
    }
}
