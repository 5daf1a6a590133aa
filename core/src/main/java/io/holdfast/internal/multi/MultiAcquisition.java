package io.holdfast.internal.multi;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.internal.claim.Emission;
import io.holdfast.internal.claim.EngineLease;
import io.holdfast.internal.claim.HeldLocks;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.spi.support.Fallible;
import io.holdfast.spi.support.Mailbox;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** Acts on the decisions of {@link MultiAcquireState}: a separate acquisition tries each member, or waits for it. */
public final class MultiAcquisition implements Emission.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(MultiAcquisition.class);

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(1);

    private final MultiLockSettings locks;
    private final boolean waits;
    private final Emission<MultiLease> emission;
    private final Mailbox mailbox = new Mailbox(this::broken);

    // Written within the mailbox.
    private MultiAcquireState state;
    private @Nullable Alarm timedOut;
    private final @Nullable Asked[] asked;
    private final @Nullable EngineLease[] held;

    private MultiAcquisition(MultiLockSettings locks, boolean waits, CoreSubscriber<? super MultiLease> subscriber) {
        this.locks = locks;
        this.waits = waits;
        state = MultiAcquireState.of(locks.members().size(), waits);
        emission = new Emission<>(subscriber, locks.engine(), this);
        asked = new Asked[locks.members().size()];
        held = new EngineLease[locks.members().size()];
    }

    public static Mono<MultiLease> mono(MultiLockSettings locks, boolean waits) {
        return Emission.mono(subscriber -> new MultiAcquisition(locks, waits, subscriber).emission);
    }

    @Override
    public void begin() {
        mailbox.post(this::start);
    }

    @Override
    public void left() {
        mailbox.post(() -> step(state.left()));
    }

    private void start() {
        if (emission.isOver()) {
            return; // the subscriber cancelled before the first request
        }
        Duration limit = waits ? locks.waitTimeout() : null;
        if (limit != null && !limit.isZero()) {
            Alarm over = Alarm.of(() -> mailbox.post(() -> step(state.timedOut(this::timedOut))));
            timedOut = over;
            locks.engine().alarms.set(over, emission.startedAtNanos() + limit.toNanos());
        }
        step(state.start());
    }

    private void step(MultiAcquireState.Step step) {
        state = step.state();
        if (step.state().isOver()) {
            locks.engine().alarms.off(timedOut);
        }
        eachInReverse(step.withdraw(), this::withdraw);
        eachInReverse(step.release(), this::release);
        each(step.ask(), step.state().isWaiting() ? this::waitFor : this::tryOne);
        switch (step.signal()) {
            case LEASES -> deliver();
            case EMPTY -> emission.complete();
            case ERROR -> emission.fail(requireNonNull(step.state().failure()));
            case NONE -> {}
        }
    }

    private static void each(long members, IntConsumer act) {
        for (long left = members; left != 0; left &= left - 1) {
            act.accept(Long.numberOfTrailingZeros(left));
        }
    }

    private static void eachInReverse(long members, IntConsumer act) {
        for (long left = members; left != 0; left &= ~Long.highestOneBit(left)) {
            act.accept(Long.SIZE - 1 - Long.numberOfLeadingZeros(left));
        }
    }

    private void tryOne(int member) {
        ask(member, locks.members().get(member), Mode.TRY);
    }

    private void waitFor(int member) {
        LockSettings lock = locks.members().get(member);
        Duration limit = locks.waitTimeout();
        if (limit != null) {
            LockOptions limited =
                    lock.options().toBuilder().waitTimeout(left(limit)).build();
            lock = LockSettings.of(lock.engine(), lock.key(), lock.permits(), limited);
        }
        ask(member, lock, lock.terms().acquireMode());
    }

    /** At least the shortest time limit that options accept; zero means one attempt, and stays zero. */
    private Duration left(Duration limit) {
        if (limit.isZero()) {
            return limit;
        }
        Duration left = limit.minus(emission.waited());
        return left.compareTo(SHORTEST_WAIT) < 0 ? SHORTEST_WAIT : left;
    }

    private void ask(int member, LockSettings lock, Mode mode) {
        Asked one = new Asked(member);
        asked[member] = one;
        HeldLocks.acquire(lock, mode, true).subscribe(one);
    }

    private void withdraw(int member) {
        Asked one = asked[member];
        if (one != null) {
            one.cancel();
        }
    }

    private void release(int member) {
        EngineLease lease = lease(member);
        held[member] = null;
        lease.stopWatchingLoss();
        lease.releaseUnused();
    }

    private EngineLease lease(int member) {
        return requireNonNull(held[member], "not held");
    }

    private void deliver() {
        List<EngineLease> all = new ArrayList<>(held.length);
        for (int member = 0; member < held.length; member++) {
            all.add(lease(member));
        }
        Arrays.fill(held, null); // a subscriber that drops its leases may keep a reference to this
        MultiLeaseHandle leases = new MultiLeaseHandle(all);
        leases.stopWatchingLoss();
        emission.deliver(leases, leases, locks.names().get(0));
    }

    /** The one attempt of the member has no answer yet. */
    private LockTimeoutException timedOut(int member) {
        return new LockTimeoutException(locks.names().get(member), emission.waited(), 1, false, null);
    }

    private void granted(int member, EngineLease lease) {
        held[member] = lease;
        step(state.granted(member));
        if (lease.equals(held[member])) { // otherwise it was handed out, or released
            lease.watchLoss(() -> mailbox.post(() -> lost(member, lease)));
        }
    }

    /** Handles a loss. A lease that was released before is not in {@code held}, even if its lock was taken again. */
    private void lost(int member, EngineLease lease) {
        if (lease.equals(held[member])) {
            held[member] = null;
            step(state.lost(member, lease.lost()));
        }
    }

    /** Replaces the waiting time by the time since the beginning of the whole acquisition. */
    private void failed(int member, Throwable error) {
        Throwable told = error instanceof LockTimeoutException over
                ? new LockTimeoutException(
                        over.lockName(), emission.waited(), over.attempts(), over.backendAnswered(), over.getCause())
                : error;
        step(state.failed(member, told));
    }

    private void broken(Throwable defect) {
        String names = Printable.text(locks.names().toString());
        Fallible.log(defect, LOG, "an event of the locks %s could not be handled".formatted(names));
        step(state.left());
        emission.fail(new LockBackendException(
                "",
                "acquisition of locks %s met something unexpected in this library: %s".formatted(locks.names(), defect),
                false,
                defect));
    }

    private final class Asked extends BaseSubscriber<LockLease> {

        private final int member;

        /** Written and read on the signalling thread. */
        private boolean isGranted;

        Asked(int member) {
            this.member = member;
        }

        @Override
        public Context currentContext() {
            return emission.context();
        }

        @Override
        protected void hookOnNext(LockLease lease) {
            isGranted = true;
            mailbox.post(() -> granted(member, (EngineLease) lease)); // the acquisition is the engine's own operator
        }

        @Override
        protected void hookOnComplete() {
            if (!isGranted) {
                mailbox.post(() -> step(state.refused(member)));
            }
        }

        @Override
        protected void hookOnError(Throwable error) {
            mailbox.post(() -> failed(member, error));
        }
    }
}
