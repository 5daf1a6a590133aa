package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/** The masters, and what all questions to them share. */
final class Masters {

    private static final Logger LOG = LoggerFactory.getLogger(RedlockBackend.class);

    private static final Duration LEAST_LIMIT = Duration.ofMillis(50);

    final List<LockBackend> backends;
    final List<String> names;
    final Scheduler timer;
    final Cleanup cleanup;
    final DoubleSupplier random;

    private final List<Integer> all;
    private final @Nullable Duration limit;
    private final @Nullable Consumer<? super Vote> listener;
    private final WallClock wallClock;
    private final AtomicReference<TokenFloor> floor;

    Masters(RedlockBackend.Builder options, Scheduler timer) {
        backends = options.masters;
        all = IntStream.range(0, backends.size()).boxed().toList();
        names = options.names;
        this.timer = timer;
        random = options.random;
        limit = options.limit;
        listener = options.listener;
        wallClock = options.wallClock;
        floor = new AtomicReference<>(TokenFloor.initial(wallClock.micros()));
        cleanup = new Cleanup(this);
    }

    int size() {
        return backends.size();
    }

    /** Their numbers. */
    List<Integer> all() {
        return all;
    }

    LockBackend backend(int master) {
        return backends.get(master);
    }

    String name(int master) {
        return names.get(master);
    }

    long now() {
        return timer.now(TimeUnit.NANOSECONDS);
    }

    /**
     * How long one master may take. Two rounds of it fit into the default operation timeout, a quarter of the lease, so that the error
     * which names the masters comes before the one that knows nothing.
     */
    Duration limit(Duration lease) {
        if (limit != null) {
            return limit;
        }
        long nanos = lease.toNanos();
        return Duration.ofNanos(Math.min(Math.max(nanos / 100, LEAST_LIMIT.toNanos()), nanos / 10));
    }

    /** How long votes may be believed that were asked for at that time; the same margin as the engine's. */
    static long validUntil(long askedAtNanos, Duration lease) {
        long nanos = lease.toNanos();
        return askedAtNanos + nanos - nanos / 100 - 2_000_000;
    }

    long proposedFloor(long wanted) {
        return Math.max(wanted, floor.get().proposed(wallClock.micros()));
    }

    void granted(long token, long proposal) {
        long now = wallClock.micros();
        floor.updateAndGet(it -> it.seen(token, proposal, now));
    }

    boolean isListening() {
        return listener != null;
    }

    void tell(Vote vote) {
        if (listener == null) {
            return;
        }
        try {
            listener.accept(vote);
        } catch (RuntimeException broken) {
            LOG.warn("the listener of votes threw, which it must not: {}", broken.toString());
        }
    }

    LockBackendException undecided(String lockName, Vote vote, boolean isTransient) {
        String advice = isTransient
                ? "bring the failed ones back, or check the network to them; trying again may help"
                : "correct what the failed ones complain of; trying again does not help";
        String message = "%s: too many masters failed, and %d of %d are needed; %s"
                .formatted(vote, Tally.majorityOf(size()), size(), advice);
        return new LockBackendException(lockName, message, isTransient, null);
    }
}
