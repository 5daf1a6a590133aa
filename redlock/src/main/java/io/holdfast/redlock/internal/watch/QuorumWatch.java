package io.holdfast.redlock.internal.watch;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.WatchQuorum;
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
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * The signals of one claim, from all masters. It subscribes to each master's watch, under the id that the claim has there, and is disposed of
 * with its own subscriber.
 *
 * <p>A release is told by several masters and to all contenders at once. So what a waiter is told is put together until a majority may be
 * free: a single vote that a client gave up wakes no waiter that needs more than that. It is passed on after a short pause of random length, see
 * {@link JitteredBackoff}.
 */
public final class QuorumWatch {

    private static final Duration FIRST_REPAIR = Duration.ofMillis(100);
    private static final int MOST_DOUBLINGS = 6;

    /** The longest pause between repairs. A watch that lasted that long has recovered. */
    private static final long RECOVERED_NANOS = FIRST_REPAIR.toNanos() << MOST_DOUBLINGS;

    /** Before it is checked again whether a round is still under way. */
    private static final long LEAST_PAUSE_NANOS = 2_000_000;

    private final Masters masters;
    private final ClaimState state;
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
    private final WatchQuorum quorum;

    private QuorumWatch(Masters masters, ClaimState state, LockClaim claim, FluxSink<WatchSignal> sink) {
        this.masters = masters;
        this.state = state;
        this.claim = claim;
        this.sink = sink;
        quorum = new WatchQuorum(masters.size());
        repairing = new AtomicIntegerArray(masters.size());
        failures = new AtomicIntegerArray(masters.size());
        begunAt = new AtomicLongArray(masters.size());
        masters.all().forEach(master -> {
            lines.add(Disposables.swap());
            repairs.add(Disposables.swap());
        });
    }

    public static Flux<WatchSignal> of(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return Flux.create(
                sink -> new QuorumWatch(masters, registry.of(claim, masters.now()), claim, sink).start(),
                FluxSink.OverflowStrategy.BUFFER);
    }

    private void start() {
        state.onRename(renamed);
        sink.onDispose(this::stop);
        masters.all().forEach(master -> begunAt.set(master, masters.now()));
        masters.all().forEach(this::watch);
    }

    private void stop() {
        state.offRename(renamed);
        pause.dispose();
        repairs.forEach(Disposable::dispose);
        lines.forEach(Disposable::dispose);
    }

    private void watchAgain(int master) {
        synchronized (quorum) {
            quorum.renewed(master);
        }
        watch(master);
    }

    private void watch(int master) {
        LockClaim there = state.at(master, claim);
        watch(master, there);
        while (!there.id().equals(state.at(master, claim).id())) {
            // It was renamed meanwhile, by another thread, whose line may just have been replaced by this one.
            there = state.at(master, claim);
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
        WatchQuorum.Verdict verdict;
        synchronized (quorum) {
            verdict = quorum.signalled(master, signal);
        }
        switch (verdict) {
            case ARMED -> sink.next(signal);
            case CHANGED -> changed(master);
            case LOST_HERE -> lostAt(master, (WatchSignal.Lost) signal);
            case UNWANTED -> masters.releases().release(master, state.retire(master, there));
            case NOTHING, STOPPED -> {}
        }
    }

    private void stopped(int master, Throwable error) {
        WatchQuorum.Verdict verdict;
        synchronized (quorum) {
            verdict = quorum.stopped(master);
        }
        if (verdict == WatchQuorum.Verdict.STOPPED) {
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
        Duration pause = JitteredBackoff.afterFailures(
                FIRST_REPAIR, Math.min(MOST_DOUBLINGS, failures.getAndIncrement(master)), masters.random());
        try {
            boolean unused = repairs.get(master)
                    .replace(masters.timer().schedule(() -> repairNow(master), pause.toNanos(), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            Masters.LOG.debug(
                    "{} is not watched again: the timer was disposed of", Printable.text(masters.name(master)));
        }
    }

    private void repairNow(int master) {
        begunAt.set(master, masters.now());
        repairing.set(master, 0);
        watchAgain(master);
    }

    /** A minority that lost it is no loss: a renewal finds out, and puts it back. */
    private void lostAt(int master, WatchSignal.Lost signal) {
        if (state.lostAt(master) >= VoteCount.majorityOf(masters.size())) {
            sink.next(signal);
        } else {
            changed(master);
        }
    }

    private void changed(int master) {
        if (state.isHeld()) {
            sink.next(new WatchSignal.Changed()); // there is no contention about a renewal
            return;
        }
        boolean isWorthALook;
        synchronized (quorum) {
            isWorthALook = state.mayBeFree(quorum.changed(master));
        }
        if (isWorthALook && pausing.compareAndSet(false, true)) {
            startPause(0);
        }
    }

    private void startPause(long leastNanos) {
        long nanos = JitteredBackoff.inContention(state.contentionLevel(), state.roundNanos(), masters.random())
                .toNanos();
        try {
            // Not disposing of the one before: that may be a later one, which this pause has started by its end
            // already.
            boolean unused = pause.replace(
                    masters.timer().schedule(this::pauseOver, Math.max(leastNanos, nanos), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            pauseOver();
        }
    }

    private void pauseOver() {
        if (sink.isCancelled()) {
            return;
        }
        if (state.isAsking()) {
            startPause(LEAST_PAUSE_NANOS); // what the round under way sees may be older than the change
            return;
        }
        pausing.set(false);
        synchronized (quorum) {
            quorum.looksAgain();
        }
        if (!state.isHeld()) {
            state.signalled();
            sink.next(new WatchSignal.Changed()); // what changed before it was held does not matter any more
        }
    }
}
