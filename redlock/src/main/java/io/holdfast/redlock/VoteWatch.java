package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Printable;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * The signals of one claim, from all masters. It subscribes to each master's watch, under the id that the claim has there, and is disposed of
 * with its own subscriber.
 *
 * <p>A release is told by several masters and to all contenders at once. So what a waiter is told is put together until a majority may be
 * free: a single vote that somebody gave up wakes nobody who needs more than that. It is passed on after a short pause of random length, see
 * {@link Pauses}.
 */
final class VoteWatch {

    private static final Logger LOG = LoggerFactory.getLogger(RedlockBackend.class);

    private static final Duration FIRST_REPAIR = Duration.ofMillis(100);
    private static final int MOST_DOUBLINGS = 6;

    /** The longest pause between repairs. A watch that lasted that long has recovered. */
    private static final long RECOVERED_NANOS = FIRST_REPAIR.toNanos() << MOST_DOUBLINGS;

    /** Between two glances at a look under way. */
    private static final long LEAST_PAUSE_NANOS = 2_000_000;

    private final Masters masters;
    private final Candidate candidate;
    private final LockClaim claim;
    private final FluxSink<WatchSignal> sink;
    private final List<Disposable.Swap> lines = new ArrayList<>();

    /** Pauses before a master whose watch failed is watched again. */
    private final List<Disposable.Swap> repairs = new ArrayList<>();

    /** 1 for a master that is in such a pause: another watch of it that fails, under a new id, begins no pause of its own. */
    private final AtomicIntegerArray repairing;

    /** Failures in a row, by master. A signal does not end the row: a master may tell that it watches, and fail at once. */
    private final AtomicIntegerArray failures;

    /** When the watch of each master was last begun, or begun again after a pause. */
    private final AtomicLongArray begunAt;

    private final Disposable.Swap pause = Disposables.swap();
    private final AtomicBoolean pausing = new AtomicBoolean();
    private final IntConsumer renamed = this::watchAgain;

    /** Guarded by itself. */
    private final WatchTally tally;

    private VoteWatch(Masters masters, Candidate candidate, LockClaim claim, FluxSink<WatchSignal> sink) {
        this.masters = masters;
        this.candidate = candidate;
        this.claim = claim;
        this.sink = sink;
        tally = new WatchTally(masters.size());
        repairing = new AtomicIntegerArray(masters.size());
        failures = new AtomicIntegerArray(masters.size());
        begunAt = new AtomicLongArray(masters.size());
        masters.all().forEach(master -> {
            lines.add(Disposables.swap());
            repairs.add(Disposables.swap());
        });
    }

    static Flux<WatchSignal> of(Masters masters, Candidates candidates, LockClaim claim) {
        return Flux.create(
                sink -> new VoteWatch(masters, candidates.of(claim, masters.now()), claim, sink).start(),
                FluxSink.OverflowStrategy.BUFFER);
    }

    private void start() {
        candidate.onRename(renamed);
        sink.onDispose(this::stop);
        masters.all().forEach(master -> begunAt.set(master, masters.now()));
        masters.all().forEach(this::watch);
    }

    private void stop() {
        candidate.offRename(renamed);
        pause.dispose();
        repairs.forEach(Disposable::dispose);
        lines.forEach(Disposable::dispose);
    }

    private void watchAgain(int master) {
        synchronized (tally) {
            tally.renewed(master);
        }
        watch(master);
    }

    private void watch(int master) {
        LockClaim there = candidate.at(master, claim);
        watch(master, there);
        while (!there.id().equals(candidate.at(master, claim).id())) {
            // It was renamed meanwhile, by another thread, whose line may just have been replaced by this one.
            there = candidate.at(master, claim);
            watch(master, there);
        }
    }

    private void watch(int master, LockClaim there) {
        boolean unused = lines.get(master)
                .update(masters.backend(master)
                        .watch(there)
                        .subscribe(
                                signal -> signalled(master, there, signal),
                                error -> stopped(master, error),
                                () -> stopped(master, new IllegalStateException("the watch completed"))));
    }

    private void signalled(int master, LockClaim there, WatchSignal signal) {
        WatchTally.Verdict verdict;
        synchronized (tally) {
            verdict = tally.signalled(master, signal);
        }
        switch (verdict) {
            case ARMED -> sink.next(signal);
            case CHANGED -> changed(master);
            case LOST_HERE -> lostAt(master, (WatchSignal.Lost) signal);
            case UNWANTED -> masters.cleanup.release(master, candidate.retire(master, there));
            case NOTHING, STOPPED -> {}
        }
    }

    private void stopped(int master, Throwable error) {
        WatchTally.Verdict verdict;
        synchronized (tally) {
            verdict = tally.stopped(master);
        }
        if (verdict == WatchTally.Verdict.STOPPED) {
            sink.error(new LockBackendException(
                    claim.key().name(),
                    "the signals about lock '%s' stopped: no majority of the masters can be watched any more; %s was the last: %s"
                            .formatted(claim.key().name(), masters.name(master), error.getMessage()),
                    true,
                    error));
        } else {
            repair(master);
        }
    }

    /** A waiter may wait for hours: a master that could not be watched for a moment shall not stay silent for it. */
    private void repair(int master) {
        if (!repairing.compareAndSet(master, 0, 1)) {
            return;
        }
        if (masters.now() - begunAt.get(master) >= RECOVERED_NANOS) {
            failures.set(master, 0);
        }
        Duration pause = Pauses.afterFailures(
                FIRST_REPAIR, Math.min(MOST_DOUBLINGS, failures.getAndIncrement(master)), masters.random.getAsDouble());
        try {
            boolean unused = repairs.get(master)
                    .replace(masters.timer.schedule(() -> repairNow(master), pause.toNanos(), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            LOG.debug("{} is not watched again: the timer was disposed of", Printable.text(masters.name(master)));
        }
    }

    private void repairNow(int master) {
        begunAt.set(master, masters.now());
        repairing.set(master, 0);
        watchAgain(master);
    }

    /** A minority that lost it is no loss: a renewal finds out, and puts it back. */
    private void lostAt(int master, WatchSignal.Lost signal) {
        if (candidate.lostAt(master) >= Tally.majorityOf(masters.size())) {
            sink.next(signal);
        } else {
            changed(master);
        }
    }

    private void changed(int master) {
        if (candidate.isHeld()) {
            sink.next(new WatchSignal.Changed()); // there is no contention about a renewal
            return;
        }
        boolean isWorthALook;
        synchronized (tally) {
            isWorthALook = candidate.mayBeFree(tally.changed(master));
        }
        if (isWorthALook && pausing.compareAndSet(false, true)) {
            startPause(0);
        }
    }

    private void startPause(long leastNanos) {
        long nanos = Pauses.inACrowd(candidate.crowd(), candidate.roundNanos(), masters.random.getAsDouble())
                .toNanos();
        try {
            // Not disposing of the one before: that may be a later one, which this pause has started by its end
            // already.
            boolean unused = pause.replace(
                    masters.timer.schedule(this::pauseOver, Math.max(leastNanos, nanos), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            pauseOver();
        }
    }

    private void pauseOver() {
        if (sink.isCancelled()) {
            return;
        }
        if (candidate.isLooking()) {
            startPause(LEAST_PAUSE_NANOS); // what the round under way sees may be older than the change
            return;
        }
        pausing.set(false);
        synchronized (tally) {
            tally.looksAgain();
        }
        if (!candidate.isHeld()) {
            candidate.signalled();
            sink.next(new WatchSignal.Changed()); // what changed before it was held does not matter any more
        }
    }
}
