package io.holdfast.redlock.internal.watch;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.internal.claim.ClaimRegistry;
import io.holdfast.redlock.internal.claim.ClaimState;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.quorum.JitteredBackoff;
import io.holdfast.redlock.internal.quorum.VoteCount;
import io.holdfast.redlock.internal.quorum.WatchQuorum;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/**
 * The signals of one claim, from all masters. It subscribes to each master's watch, under the id that the claim has
 * there, and is disposed of with its own subscriber.
 *
 * <p>Several masters signal a release, and to all contenders at once. So the watch collects the signals until a
 * majority may be free: a single vote that a client gave up wakes no waiter that needs more than that. It emits the
 * signal after a short pause of random length, see {@link JitteredBackoff}.
 */
public final class QuorumWatch {

    /** The pause before the next check whether a round is still under way. */
    private static final long LEAST_PAUSE_NANOS = 2_000_000;

    private final Masters masters;
    private final ClaimState state;
    private final LockClaim claim;
    private final SignalSink sink;

    /** By master. */
    private final AtomicReferenceArray<@Nullable Line> lines;

    private final long begunAtNanos;

    /** Written at the end. */
    private volatile boolean isStopped;

    /** Null before a watch has failed. Guarded by this. */
    private @Nullable WatchRepairs repairs;

    private final Disposable.Swap pause = Disposables.swap();
    private final AtomicBoolean pausing = new AtomicBoolean();
    private final IntConsumer renamed = this::watchAgain;

    /** Guarded by itself. */
    private final WatchQuorum quorum;

    private QuorumWatch(
            Masters masters, ClaimState state, LockClaim claim, CoreSubscriber<? super WatchSignal> subscriber) {
        this.masters = masters;
        this.state = state;
        this.claim = claim;
        sink = SignalSink.relay(claim.id(), subscriber, cancelled -> stop());
        quorum = new WatchQuorum(masters.size());
        lines = new AtomicReferenceArray<>(masters.size());
        begunAtNanos = masters.now();
    }

    /** The signals of a claim. Cold: each subscription has a watch of its own. */
    private static final class Signals extends Flux<WatchSignal> {

        private final Masters masters;
        private final ClaimRegistry registry;
        private final LockClaim claim;

        Signals(Masters masters, ClaimRegistry registry, LockClaim claim) {
            this.masters = masters;
            this.registry = registry;
            this.claim = claim;
        }

        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            QuorumWatch watch = new QuorumWatch(masters, registry.of(claim, masters.now()), claim, subscriber);
            subscriber.onSubscribe(watch.sink);
            watch.start();
        }
    }

    public static Flux<WatchSignal> of(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return new Signals(masters, registry, claim);
    }

    private void start() {
        if (isStopped) {
            return;
        }
        state.onRename(renamed);
        masters.all().forEach(this::watch);
        if (isStopped) {
            state.offRename(renamed); // stopped while it began
        }
    }

    private void stop() {
        WatchRepairs underWay;
        synchronized (this) {
            isStopped = true;
            underWay = repairs;
        }
        state.offRename(renamed);
        pause.dispose();
        if (underWay != null) {
            underWay.stop();
        }
        for (int master : masters.all()) {
            Line line = lines.get(master);
            if (line != null) {
                line.dispose();
            }
        }
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
            // Another thread has renamed the claim meanwhile, and this line may just have replaced the line of that
            // thread.
            there = state.at(master, claim);
            watch(master, there);
        }
    }

    private void watch(int master, LockClaim there) {
        Line line = new Line(master, there);
        masters.backend(master).watch(there).subscribe(line);
        Line before = lines.getAndSet(master, line);
        if (before != null) {
            before.dispose();
        }
        if (isStopped) {
            line.dispose();
        }
    }

    /** The watch of one master, under the id that the claim has there. */
    private final class Line extends BaseSubscriber<WatchSignal> {

        private final int master;
        private final LockClaim there;

        Line(int master, LockClaim there) {
            this.master = master;
            this.there = there;
        }

        @Override
        protected void hookOnNext(WatchSignal signal) {
            signalled(master, there, signal);
        }

        @Override
        protected void hookOnError(Throwable error) {
            stopped(master, error);
        }

        @Override
        protected void hookOnComplete() {
            stopped(master, new IllegalStateException("the watch completed"));
        }
    }

    private void signalled(int master, LockClaim there, WatchSignal signal) {
        WatchQuorum.Verdict verdict;
        synchronized (quorum) {
            verdict = quorum.signalled(master, signal);
        }
        switch (verdict) {
            case ARMED -> emit(signal);
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
            stop();
            sink.fail(new LockBackendException(
                    claim.key().name(),
                    "the signals about lock '%s' stopped: no majority of the masters can be watched any more; %s was the last: %s"
                            .formatted(claim.key().name(), masters.name(master), error.getMessage()),
                    true,
                    error));
        } else {
            repair(master);
        }
    }

    private void emit(WatchSignal signal) {
        sink.accept(signal);
        if (sink.isDue()) {
            sink.run();
        }
    }

    private void repair(int master) {
        WatchRepairs all;
        synchronized (this) {
            if (isStopped) {
                return;
            }
            if (repairs == null) {
                repairs = new WatchRepairs(masters, begunAtNanos, this::watchAgain);
            }
            all = repairs;
        }
        all.repair(master);
    }

    /** A loss at a minority does not end the lease: a renewal finds it, and restores the lease there. */
    private void lostAt(int master, WatchSignal.Lost signal) {
        if (state.lostAt(master) >= VoteCount.majorityOf(masters.size())) {
            emit(signal);
        } else {
            changed(master);
        }
    }

    private void changed(int master) {
        if (state.isHeld()) {
            emit(new WatchSignal.Changed()); // a renewal has no contention
            return;
        }
        boolean isWorthAnAttempt;
        synchronized (quorum) {
            isWorthAnAttempt = state.mayBeFree(quorum.changed(master));
        }
        if (isWorthAnAttempt && pausing.compareAndSet(false, true)) {
            startPause(0);
        }
    }

    private void startPause(long leastNanos) {
        long nanos = JitteredBackoff.inContention(state.contentionLevel(), state.roundNanos(), masters.random())
                .toNanos();
        try {
            // Does not dispose of the former pause: that may be a later one, which this pause has started by its end
            // already.
            boolean unused = pause.replace(
                    masters.timer().schedule(this::pauseOver, Math.max(leastNanos, nanos), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            pauseOver();
        }
    }

    private void pauseOver() {
        if (isStopped) {
            return;
        }
        if (state.hasOpenRound()) {
            startPause(LEAST_PAUSE_NANOS); // the answers to the round under way may be older than the change
            return;
        }
        pausing.set(false);
        synchronized (quorum) {
            quorum.attemptsAgain();
        }
        if (!state.isHeld()) {
            state.signalled();
            emit(new WatchSignal.Changed()); // a change before the grant does not matter any more
        }
    }
}
