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
import io.holdfast.spi.support.Printable;
import io.holdfast.spi.support.SignalSink;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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
 * signal after a short pause of random length, see {@link JitteredBackoff}. All runs in the mailbox of the claim, and
 * the subscriber gets the signals outside of it.
 */
public final class QuorumWatch {

    /** The pause before the next check whether a round is still under way. */
    private static final long LEAST_PAUSE_NANOS = 2_000_000;

    private static final Duration FIRST_REPAIR = Duration.ofMillis(100);
    private static final int MOST_DOUBLINGS = 6;

    /** The longest pause before a repair. A watch that lasted that long has recovered. */
    private static final long RECOVERED_NANOS = FIRST_REPAIR.toNanos() << MOST_DOUBLINGS;

    private final Masters masters;
    private final ClaimState state;
    private final LockClaim claim;
    private final SignalSink sink;

    /** By master. */
    private final @Nullable Line[] lines;

    private final WatchQuorum quorum;
    private final Disposable.Swap pause = Disposables.swap();
    private final IntConsumer renamed = this::renamed;
    private boolean isPausing;
    private boolean isStopped;

    private QuorumWatch(
            Masters masters, ClaimState state, LockClaim claim, CoreSubscriber<? super WatchSignal> subscriber) {
        this.masters = masters;
        this.state = state;
        this.claim = claim;
        sink = new SignalSink(claim.id(), subscriber, cancelled -> post(this::stop));
        quorum = new WatchQuorum(masters.size());
        lines = new Line[masters.size()];
    }

    /** Returns the signals of a claim. Cold: each subscription has a watch of its own. */
    public static Flux<WatchSignal> of(Masters masters, ClaimRegistry registry, LockClaim claim) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
                QuorumWatch watch = new QuorumWatch(masters, registry.of(claim, masters.now()), claim, subscriber);
                watch.sink.handOver();
                watch.post(watch::start);
            }
        };
    }

    private void post(Runnable event) {
        state.mailbox().post(event);
    }

    private void start() {
        if (!isStopped) {
            state.onRename(renamed);
            masters.all().forEach(this::watch);
        }
    }

    private void stop() {
        isStopped = true;
        state.offRename(renamed);
        pause.dispose();
        for (Line line : lines) {
            if (line != null) {
                line.end();
            }
        }
    }

    private void renamed(int master) {
        post(() -> watchAgain(master));
    }

    private void watchAgain(int master) {
        if (!isStopped) {
            quorum.renewed(master);
            watch(master);
        }
    }

    private void watch(int master) {
        LockClaim there = state.at(master, claim);
        Line before = lines[master];
        Line line = new Line(master, there, before == null ? 0 : before.failures);
        lines[master] = line;
        masters.backend(master).watch(there).subscribe(line);
        if (before != null) {
            before.end();
        }
    }

    /** The watch of one master, under the id that the claim has there. */
    private final class Line extends BaseSubscriber<WatchSignal> {

        private final int master;
        private final LockClaim there;
        private final long begunAtNanos = masters.now();

        /**
         * In a row. A signal does not end the row: a master may signal that the watch is armed, and fail at once.
         */
        private int failures;

        /** Before the repair; null before the watch has failed. */
        private @Nullable Disposable pauseBefore;

        Line(int master, LockClaim there, int failures) {
            this.master = master;
            this.there = there;
            this.failures = failures;
        }

        void end() {
            dispose();
            if (pauseBefore != null) {
                pauseBefore.dispose();
            }
        }

        @Override
        protected void hookOnNext(WatchSignal signal) {
            post(() -> signalled(master, there, signal));
        }

        @Override
        protected void hookOnError(Throwable error) {
            post(() -> stopped(this, error));
        }

        @Override
        protected void hookOnComplete() {
            hookOnError(new IllegalStateException("the watch completed"));
        }
    }

    private void signalled(int master, LockClaim there, WatchSignal signal) {
        switch (quorum.signalled(master, signal)) {
            case ARMED -> emit(signal);
            case CHANGED -> changed(master);
            case LOST_HERE -> lostAt(master, (WatchSignal.Lost) signal);
            case UNWANTED -> masters.releases().release(master, state.retire(master, there));
            case NOTHING, STOPPED -> {}
        }
    }

    private void stopped(Line line, Throwable error) {
        if (isStopped || lines[line.master] != line) {
            return;
        }
        if (quorum.stopped(line.master) == WatchQuorum.Verdict.STOPPED) {
            stop();
            LockBackendException failure = new LockBackendException(
                    claim.key().name(),
                    "the signals about lock '%s' stopped: no majority of the masters can be watched any more; %s was the last: %s"
                            .formatted(claim.key().name(), masters.name(line.master), error.getMessage()),
                    true,
                    error);
            state.mailbox().after(() -> sink.fail(failure));
        } else {
            repair(line);
        }
    }

    /**
     * Watches the master again after a pause: a waiter may wait for hours, and must not miss the signals of a master
     * that could not be watched for a moment.
     */
    private void repair(Line line) {
        if (masters.now() - line.begunAtNanos >= RECOVERED_NANOS) {
            line.failures = 0;
        }
        Duration growing = JitteredBackoff.afterFailures(
                FIRST_REPAIR, Math.min(MOST_DOUBLINGS, line.failures++), masters.random());
        try {
            line.pauseBefore = masters.timer()
                    .schedule(() -> post(() -> repairNow(line)), growing.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException disposed) {
            Masters.LOG.debug(
                    "{} is not watched again: the timer was disposed of", Printable.text(masters.name(line.master)));
        }
    }

    private void repairNow(Line line) {
        if (lines[line.master] == line) {
            watchAgain(line.master);
        }
    }

    private void emit(WatchSignal signal) {
        sink.accept(signal);
        state.mailbox().after(() -> {
            if (sink.isDue()) {
                sink.run();
            }
        });
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
        if (state.mayBeFree(quorum.changed(master)) && !isPausing) {
            isPausing = true;
            startPause(0);
        }
    }

    private void startPause(long leastNanos) {
        long nanos = JitteredBackoff.inContention(state.contentionLevel(), state.roundNanos(), masters.random())
                .toNanos();
        try {
            boolean unused = pause.replace(masters.timer()
                    .schedule(() -> post(this::pauseOver), Math.max(leastNanos, nanos), TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            post(this::pauseOver);
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
        isPausing = false;
        quorum.attemptsAgain();
        if (!state.isHeld()) {
            state.signalled();
            emit(new WatchSignal.Changed()); // a change before the grant does not matter any more
        }
    }
}
