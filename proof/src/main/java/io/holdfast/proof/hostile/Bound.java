package io.holdfast.proof.hostile;

import java.time.Duration;

/** How long faults are injected into a field: a time, or a number of them, which is the same on slow machines. */
interface Bound {

    /** Whether another one is to come after so many. */
    boolean allows(int done, long nowNanos);

    static Bound until(long endNanos) {
        return (done, nowNanos) -> nowNanos - endNanos < 0;
    }

    static Bound of(int faults) {
        return (done, nowNanos) -> done < faults;
    }

    /** How much a campaign is to do. */
    sealed interface Size {

        Bound from(long nowNanos);

        /** For so long. */
        record Lasting(Duration time) implements Size {
            @Override
            public Bound from(long nowNanos) {
                return until(nowNanos + time.toNanos());
            }
        }

        /** So many faults of each field, whatever time they take. */
        record Faults(int each) implements Size {
            @Override
            public Bound from(long nowNanos) {
                return of(each);
            }
        }
    }
}
