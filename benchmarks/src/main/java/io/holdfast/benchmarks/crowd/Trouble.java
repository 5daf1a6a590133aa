package io.holdfast.benchmarks.crowd;

/** What a crowd meets. */
public enum Trouble {
    /** Nothing: two clients with fifty flows each. */
    NONE("none"),
    /** The same; every second flow gives up after half of the usual wait, and begins again. */
    GIVE_UP("half of the waiters give up"),
    /** The same, and the queue has twenty places fewer than there are waiters. A flow that is refused tries again after a millisecond. */
    REFUSED("a full queue refuses"),
    /** The same, and 3,000 waiters of a killed process were there first. */
    DEAD("3,000 dead waiters"),
    /** Twenty clients with five flows each. */
    TWENTY_CLIENTS("twenty clients, five waiters each"),
    /** Two clients with fifty flows each; a holder keeps the lock for a millisecond. */
    HOLD_1("holds of 1 ms"),
    /** The same with twenty milliseconds. */
    HOLD_20("holds of 20 ms"),
    /** Twenty clients; cycles begin by a clock, half as many as the crowd of two clients ends. */
    BY_A_CLOCK("arrivals by a clock");

    private final String title;

    Trouble(String title) {
        this.title = title;
    }

    /** Returns the words of a report. */
    public String title() {
        return title;
    }
}
