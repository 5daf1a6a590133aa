package io.holdfast.r2dbc.internal.lane;

import java.util.concurrent.atomic.AtomicBoolean;

/** Tells the first failure of repeated work from later ones, so that it is logged once until the work succeeds again. Thread-safe. */
public final class Outage {

    private final AtomicBoolean isKnown = new AtomicBoolean();

    /** The work has failed. Returns whether that is news. */
    public boolean begins() {
        return isKnown.compareAndSet(false, true);
    }

    /** The work has succeeded. */
    public void ends() {
        if (isKnown.get()) {
            isKnown.set(false);
        }
    }
}
