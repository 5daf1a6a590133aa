package io.holdfast.internal;

import io.holdfast.internal.state.Validity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;

/**
 * The one timer of a client: all pauses, time limits and deadlines, however many, on one task of the user's scheduler, which is also
 * the clock.
 *
 * <p>A binary heap in which each alarm knows its place, so that taking one off, which nearly every operation does, costs O(log n) and
 * leaves nothing behind. The monitor guards a few memory accesses and is never held while an alarm rings.
 */
final class AlarmClock {

    private static final Logger LOG = LoggerFactory.getLogger(AlarmClock.class);

    /** What rings once at its time, unless it is taken off or set anew before. */
    static final class Alarm {

        private static final int OFF = -1;

        private final Runnable ring;
        private final boolean ringsAtClose;
        private int place = OFF;
        private long dueNanos;

        Alarm(Runnable ring) {
            this(ring, false);
        }

        private Alarm(Runnable ring, boolean ringsAtClose) {
            this.ring = ring;
            this.ringsAtClose = ringsAtClose;
        }

        /** Rings when the clock is closed, if it has not rung before: somebody waits for it. */
        static Alarm atTheLatestAtClose(Runnable ring) {
            return new Alarm(ring, true);
        }
    }

    /** One task of the scheduler. */
    private final class Wake implements Runnable {

        final long dueNanos;

        /** Disposing of it before it holds the task is enough: the task is then disposed of when it comes. */
        final Disposable.Swap task = Disposables.swap();

        Wake(long dueNanos) {
            this.dueNanos = dueNanos;
        }

        @Override
        public void run() {
            wake(this);
        }
    }

    private final Scheduler timer;
    private final Runnable afterRings;

    // All below: written under the monitor.
    private Alarm[] heap = new Alarm[16];
    private int size;
    private @Nullable Wake next;
    private boolean closed;

    AlarmClock(Scheduler timer, Runnable afterRings) {
        this.timer = timer;
        this.afterRings = afterRings;
    }

    long now() {
        return timer.now(TimeUnit.NANOSECONDS);
    }

    void set(Alarm alarm, long dueNanos) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (alarm.place == Alarm.OFF) {
                append(alarm);
            }
            alarm.dueNanos = dueNanos;
            siftDown(siftUp(alarm.place));
        }
        wakeForFirst();
    }

    void off(Alarm alarm) {
        synchronized (this) {
            if (alarm.place != Alarm.OFF) {
                remove(alarm);
            }
        }
    }

    /** Nothing rings after this; the alarms that are waited for ring now. */
    void close() {
        stop().forEach(alarm -> run(alarm.ring));
    }

    /** Gives the alarms that are waited for. */
    private List<Alarm> stop() {
        List<Alarm> awaited = new ArrayList<>();
        Wake last;
        synchronized (this) {
            closed = true;
            while (size > 0) {
                Alarm dropped = heap[size - 1];
                remove(dropped);
                if (dropped.ringsAtClose) {
                    awaited.add(dropped);
                }
            }
            last = next;
            next = null;
        }
        if (last != null) {
            last.task.dispose();
        }
        return awaited;
    }

    /** Whether nothing rings any more: closed, or the timer was disposed. */
    synchronized boolean isClosed() {
        return closed;
    }

    synchronized int size() {
        return size;
    }

    private void wake(Wake wake) {
        synchronized (this) {
            if (next != wake) {
                return; // disposed of too late: one that is due earlier has taken its place
            }
            next = null;
        }
        long now = now();
        try {
            for (Alarm due = takeDue(now); due != null; due = takeDue(now)) {
                run(due.ring);
            }
            run(afterRings);
        } finally {
            wakeForFirst();
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable defect) {
            Exceptions.throwIfJvmFatal(defect);
            // The other alarms, deadlines of leases among them, must ring all the same.
            LOG.error("an alarm could not be handled", defect);
        }
    }

    private synchronized @Nullable Alarm takeDue(long nowNanos) {
        if (size == 0 || !Validity.isOver(heap[0].dueNanos, nowNanos)) {
            return null;
        }
        Alarm first = heap[0];
        remove(first);
        return first;
    }

    /**
     * A task that comes too early is left as it is: it finds nothing due and sets the next. The scheduler is not called under the
     * monitor: some run a task that is due at once, on the thread that brings it.
     */
    private void wakeForFirst() {
        Wake wake;
        Wake replaced;
        synchronized (this) {
            if (closed || size == 0 || (next != null && next.dueNanos - heap[0].dueNanos <= 0)) {
                return;
            }
            replaced = next;
            wake = new Wake(heap[0].dueNanos);
            next = wake;
        }
        if (replaced != null) {
            replaced.task.dispose();
        }
        schedule(wake);
    }

    private void schedule(Wake wake) {
        try {
            long delay = Math.max(0, wake.dueNanos - now());
            boolean unused = wake.task.update(timer.schedule(wake, delay, TimeUnit.NANOSECONDS));
        } catch (RejectedExecutionException disposed) {
            LOG.error("the lock client's timer was disposed: no lease can be renewed any more", disposed);
            List<Alarm> unused = stop(); // what is under way may still be answered
        }
    }

    private void append(Alarm alarm) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        put(alarm, size++);
    }

    @SuppressWarnings("NullAway") // a free place holds null, so that nothing taken off is kept alive
    private void remove(Alarm alarm) {
        int place = alarm.place;
        alarm.place = Alarm.OFF;
        Alarm last = heap[--size];
        heap[size] = null;
        if (last != alarm) {
            put(last, place);
            siftDown(siftUp(place));
        }
    }

    private int siftUp(int from) {
        Alarm alarm = heap[from];
        int place = from;
        while (place > 0 && alarm.dueNanos - heap[(place - 1) / 2].dueNanos < 0) {
            put(heap[(place - 1) / 2], place);
            place = (place - 1) / 2;
        }
        put(alarm, place);
        return place;
    }

    private void siftDown(int from) {
        Alarm alarm = heap[from];
        int place = from;
        for (int child = 2 * place + 1; child < size; child = 2 * place + 1) {
            if (child + 1 < size && heap[child + 1].dueNanos - heap[child].dueNanos < 0) {
                child++;
            }
            if (heap[child].dueNanos - alarm.dueNanos >= 0) {
                break;
            }
            put(heap[child], place);
            place = child;
        }
        put(alarm, place);
    }

    private void put(Alarm alarm, int place) {
        heap[place] = alarm;
        alarm.place = place;
    }
}
