package io.holdfast.internal.engine;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.ClientReport;
import io.holdfast.LockClosedException;
import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.LockQueueFullException;
import io.holdfast.internal.engine.Activities.Activity;
import io.holdfast.internal.engine.Activities.Stage;
import io.holdfast.internal.timing.AlarmClock;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.internal.timing.Delivery;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.Fallible;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** What all locks of a client share: the back end, the clock, the options, and the list of all that is under way. */
public final class Engine {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.LockClient");

    public static final int NO_LIMIT = Integer.MAX_VALUE;
    static final Duration LONGEST_DEFAULT_OPERATION = Duration.ofSeconds(2);

    public final LockBackend backend;
    public final AlarmClock alarms;
    public final Delivery delivery;
    public final Events events;
    public final Renewals renewals;
    final ClaimIds ids;

    /** The name of this client in claims that may be part of a run; empty if the back end grants no runs. */
    final String client;

    private final int maxWaiters;
    private final AtomicInteger waiters = new AtomicInteger();
    final long gridPhaseNanos;

    /** The ids of released claims that keep their locks for the rest of a least hold time. Written by release loops. */
    public final Set<String> keptClaims = ConcurrentHashMap.newKeySet();

    private final @Nullable Duration operationTimeout;
    private final Randomness randomness;
    private final Activities activities = new Activities();
    private final Sinks.Empty<Void> idle = Sinks.empty();
    private final Sinks.Empty<Void> drained = Sinks.empty();

    private volatile boolean draining;

    private volatile boolean closed;

    /** Written before {@code closed}, when it is the reason for it. */
    private volatile boolean timerDied;

    public Engine(
            LockBackend backend,
            Scheduler timer,
            @Nullable Scheduler deliverOn,
            Events events,
            @Nullable Duration operationTimeout,
            int maxWaiters,
            Randomness randomness,
            String owner) {
        this.backend = backend;
        delivery = new Delivery(deliverOn);
        this.events = events;
        this.operationTimeout = operationTimeout;
        this.maxWaiters = maxWaiters;
        renewals = new Renewals(this);
        alarms = new AlarmClock(timer, renewals::flush, this::timerDied);
        this.randomness = randomness;
        ids = randomness.ids(owner);
        client = has(LockFeature.RUNS) ? ids.next() : "";
        gridPhaseNanos = randomness.seed().phase() >>> 1;
    }

    public boolean has(LockFeature feature) {
        return backend.features().contains(feature);
    }

    /** {@code what} continues "cannot". */
    public void require(LockFeature feature, String what) {
        if (!has(feature)) {
            throw unsupported(what);
        }
    }

    /** Fails if the back end has no locks of this kind. */
    public void require(LockKind kind) {
        switch (kind) {
            case READ, WRITE -> require(LockFeature.READ_WRITE, "make read/write locks");
            case SEMAPHORE -> require(LockFeature.SEMAPHORE, "make semaphores");
            case MUTEX -> {}
        }
    }

    public UnsupportedOperationException unsupported(String what) {
        return new UnsupportedOperationException("back end %s cannot %s, it has only %s"
                .formatted(backend.name(), what, new TreeSet<>(backend.features())));
    }

    /** Returns whether one more acquisition may begin. If so, it calls {@link #dismiss} once. */
    public boolean admits() {
        return maxWaiters == NO_LIMIT || waiters.getAndUpdate(seen -> Math.min(seen + 1, maxWaiters)) < maxWaiters;
    }

    public void dismiss() {
        if (maxWaiters != NO_LIMIT) {
            waiters.decrementAndGet();
        }
    }

    public LockQueueFullException queueFull(String lockName) {
        return new LockQueueFullException(
                lockName,
                maxWaiters,
                "lock '%s' was not requested: this client has as many acquisitions under way as maxWaiters allows, which is %d; shed load, hold locks shorter, or raise maxWaiters"
                        .formatted(lockName, maxWaiters));
    }

    public double random() {
        return randomness.pauses().getAsDouble();
    }

    public Duration operationTimeout(LockOptions options) {
        Duration lease = options.leaseDuration();
        if (operationTimeout != null && operationTimeout.compareTo(lease.dividedBy(3)) > 0) {
            throw new IllegalArgumentException(
                    "three operation timeouts must fit into a lease, but operationTimeout is %s and leaseDuration is %s: a renewal at a third of the lease could not be repeated in time"
                            .formatted(operationTimeout, lease));
        }
        return operationTimeout(operationTimeout, lease);
    }

    public static Duration operationTimeout(@Nullable Duration chosen, Duration lease) {
        if (chosen != null) {
            return chosen;
        }
        // Not dividedBy(), which uses BigDecimal: this runs for each lock that has options of its own.
        Duration quarter = Duration.ofNanos(lease.toNanos() / 4);
        return quarter.compareTo(LONGEST_DEFAULT_OPERATION) < 0 ? quarter : LONGEST_DEFAULT_OPERATION;
    }

    public boolean isClosed() {
        return closed;
    }

    /** Returns whether an acquisition may not go on. While the client drains, only the work of a holder may acquire. */
    public boolean refuses(Activity acquisition) {
        return closed || (draining && !acquisition.isPartOfWork());
    }

    /** Adds an activity first and closes it then: an acquisition that is opened during a drain is refused when it begins. */
    public void open(Activity activity) {
        alarms.checkTimer();
        activities.add(activity);
        if (closed) {
            activity.close();
        }
    }

    @CanIgnoreReturnValue
    public boolean ended(Activity activity) {
        boolean isFirst = activities.remove(activity);
        if (draining && activity.stage() == Stage.HOLDING) {
            closeRefused(); // its work may have left waiters behind
        }
        completeWhenIdle();
        return isFirst;
    }

    public ClientReport report() {
        Activities.Some<ClientReport.Hold> held = activities.ask(Activity::hold, ClientReport.MOST);
        Activities.Some<ClientReport.Wait> waiting = activities.ask(Activity::waiting, ClientReport.MOST);
        return new ClientReport(held.count(), held.oldest(), waiting.count(), waiting.oldest());
    }

    public Mono<Void> drain() {
        draining = true;
        closeRefused();
        completeWhenIdle();
        return drained.asMono();
    }

    private void closeRefused() {
        activities.all(Stage.ACQUIRING).stream().filter(this::refuses).forEach(Activity::refuse);
    }

    public Sinks.Empty<Void> shutDown() {
        closed = true;
        activities.all(Stage.ACQUIRING).forEach(Activity::close);
        activities.all(Stage.HOLDING).forEach(Activity::close);
        completeWhenIdle();
        return idle;
    }

    /** Without its owner's clock the client can promise nothing. All ends on the clock of the fallback. */
    private void timerDied() {
        timerDied = true;
        closed = true;
        Fallible.tell(() -> LOG.error(
                "the lock client's timer was disposed before the client: its leases are lost and its waits end"));
        alarms.set(
                Alarm.of(() -> {
                    Sinks.Empty<Void> unused = shutDown();
                }),
                alarms.now());
    }

    public LockClosedException closedException(String lockName) {
        if (!closed) {
            return LockClosedException.draining(lockName);
        }
        return timerDied
                ? new LockClosedException(lockName, "its timer was disposed")
                : new LockClosedException(lockName);
    }

    public void abandonRest() {
        alarms.close(); // ends the requests in flight; a claim that has to be withdrawn then gets one release
        activities.all(Stage.RELEASING).forEach(Activity::abandon);
        Sinks.EmitResult unused = drained.tryEmitEmpty();
    }

    private void completeWhenIdle() {
        if (closed && activities.isEmpty()) {
            Sinks.EmitResult unused = idle.tryEmitEmpty();
        }
        // An acquisition counts too: another thread may be about to open the lease of one that was granted.
        if (draining && activities.hasOnlyReleases()) {
            Sinks.EmitResult unused = drained.tryEmitEmpty();
        }
    }

    @Override
    public String toString() {
        return "Engine[%s, %d acquiring, %d held, %d releasing, %d alarms]"
                .formatted(
                        backend.name(),
                        activities.all(Stage.ACQUIRING).size(),
                        activities.all(Stage.HOLDING).size(),
                        activities.all(Stage.RELEASING).size(),
                        alarms.size());
    }
}
