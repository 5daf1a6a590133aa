package io.holdfast.redlock.internal.master;

import java.time.Duration;

/**
 * How long masters may take for one request.
 *
 * @param usual for each master
 * @param first for a master that has never answered, as long as no majority has answered: then this process is the slow
 *     one
 * @param contacts which masters have answered
 */
public record MasterTimeLimits(Duration usual, Duration first, FirstContacts contacts) {

    /** Makes one limit for all masters. */
    MasterTimeLimits(Duration usual, FirstContacts contacts) {
        this(usual, usual, contacts);
    }

    boolean mayTakeLonger(int master, long nowNanos) {
        return first.compareTo(usual) > 0 && contacts.isNew(master, nowNanos);
    }
}
