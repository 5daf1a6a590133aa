package io.holdfast.internal.timing;

import static io.holdfast.races.Interleavings.explore;
import static io.holdfast.races.Interleavings.together;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.holdfast.internal.claim.EmissionAgainstLeave;
import io.holdfast.internal.timing.AlarmClock.Alarm;
import io.holdfast.races.GrantAgainstCancel;
import io.holdfast.races.HandOverAgainstCancel;
import io.holdfast.races.HandTimer;
import io.holdfast.spi.support.Mailbox;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Orders of the steps of two threads, chosen by Lincheck and not by chance. {@code -Draces.interleavings=10000} tries more orders.
 */
class InterleavingsIT {

    private static final HandTimer NEVER = new HandTimer();
    private static final AlarmClock WATCHED = new AlarmClock(NEVER, () -> {});

    /** The thread that watches timers runs already, so that no race starts it: Lincheck stops each thread that a race starts. */
    @BeforeAll
    static void timersAreWatched() {
        WATCHED.set(Alarm.of(() -> {}), Long.MAX_VALUE / 2);
    }

    @Test
    void drainLosesNoTask() {
        explore(() -> twoTasks(new Mailbox(defect -> {})::post), "2");
    }

    /** Its last line is wrong: it takes off all reasons to work, and not only those that it has seen. */
    private static final class ForgetfulDrain {

        private final AtomicInteger due = new AtomicInteger();
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        void post(Runnable task) {
            tasks.add(task);
            if (due.getAndIncrement() == 0) {
                for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
                    next.run();
                }
                due.set(0);
            }
        }
    }

    @Test
    void drainThatForgetsAReasonIsFound() {
        assertThrows(LincheckAssertionError.class, () -> explore(() -> twoTasks(new ForgetfulDrain()::post), "2"));
    }

    /** Runs each task on its own thread, so that two tasks run at once. */
    @Test
    void mailboxWithoutADrainIsFound() {
        assertThrows(LincheckAssertionError.class, () -> explore(() -> twoTasks(Runnable::run), "2"));
    }

    /** Each task counts in a plain field. */
    private static Object twoTasks(Consumer<Runnable> mailbox) {
        int[] runs = new int[1];
        Runnable task = () -> runs[0]++;
        together(() -> mailbox.accept(task), () -> mailbox.accept(task));
        return runs[0];
    }

    @Test
    void alarmThatIsSetBesideAnotherRingsInTime() {
        explore(AlarmSetAgainstSet.class, () -> {
            AlarmSetAgainstSet race = new AlarmSetAgainstSet();
            together(race::setEarly, race::setLate);
            LL_Result result = new LL_Result();
            race.after(result);
            return result;
        });
    }

    @Test
    void alarmThatIsSetDuringAWakeRings() {
        explore(AlarmSetAgainstWake.class, () -> {
            AlarmSetAgainstWake race = new AlarmSetAgainstWake();
            together(race::wake, race::set);
            II_Result result = new II_Result();
            race.after(result);
            return result;
        });
    }

    @Test
    void alarmThatIsSetDuringACloseRings() {
        explore(AlarmSetAgainstClose.class, () -> {
            AlarmSetAgainstClose race = new AlarmSetAgainstClose();
            together(race::set, race::close);
            LL_Result result = new LL_Result();
            race.after(result);
            return result;
        });
    }

    @Test
    void claimIsEmittedOrGivenBack() {
        explore(EmissionAgainstLeave.class, () -> {
            EmissionAgainstLeave race = new EmissionAgainstLeave();
            together(race::emit, race::leave);
            LL_Result result = new LL_Result();
            race.after(result);
            return result;
        });
    }

    @Test
    void cancelledClaimLeavesNoGrant() {
        explore(GrantAgainstCancel.class, () -> {
            GrantAgainstCancel race = new GrantAgainstCancel();
            together(race::grant, race::cancel);
            LL_Result result = new LL_Result();
            race.after(result);
            return result;
        });
    }

    /** Both waiters are members of a run: the tenure passes the lock on. */
    @Test
    void runIsHandedOnToAWaiterThatStays() {
        explore(HandOverAgainstCancel.class, () -> {
            HandOverAgainstCancel race = new HandOverAgainstCancel();
            together(race::release, race::cancel);
            LL_Result result = new LL_Result();
            race.after(result);
            return result;
        });
    }
}
