package io.holdfast.redlock;

import java.time.Duration;

/**
 * How long masters may take for one request.
 *
 * @param usual for each master
 * @param first for a master that has never answered, as long as no majority has: then it is this process that is slow
 * @param contacts which masters have answered
 */
record TimeLimits(Duration usual, Duration first, FirstContacts contacts) {

    /** The same for all. */
    TimeLimits(Duration usual, FirstContacts contacts) {
        this(usual, usual, contacts);
    }

    boolean mayTakeLonger(int master, long nowNanos) {
        return first.compareTo(usual) > 0 && contacts.isNew(master, nowNanos);
    }
}
