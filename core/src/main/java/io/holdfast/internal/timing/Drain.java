package io.holdfast.internal.timing;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Work for one thread at a time, and once more for those that wanted it meanwhile, whatever the work throws. */
public final class Drain implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(Drain.class);

    private static final AtomicIntegerFieldUpdater<Drain> DUE =
            AtomicIntegerFieldUpdater.newUpdater(Drain.class, "due");

    /** Counts the reasons to work; the thread that raises it from zero works. */
    private volatile int due;

    private final Runnable work;

    /** The work does all that there is to do when it runs. */
    public Drain(Runnable work) {
        this.work = work;
    }

    /** Adds a reason to work; returns whether the caller has to {@link #run}. */
    public boolean isDue() {
        return DUE.getAndIncrement(this) == 0;
    }

    @Override
    public void run() {
        int seen = due;
        do {
            Fallible.run(work, LOG, "renewals could not be sent, or a signal could not be delivered");
            seen = DUE.addAndGet(this, -seen);
        } while (seen != 0);
    }
}
