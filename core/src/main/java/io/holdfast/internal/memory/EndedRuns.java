package io.holdfast.internal.memory;

import java.util.Arrays;

/** The last runs of one lock that one client has ended: the answer to a repeated request is the same. */
final class EndedRuns {

    private static final int KNOWN = 8;

    private final long[] numbers = new long[KNOWN];
    private int next;

    long atNanos;

    void add(long number, long now) {
        numbers[next] = number;
        next = (next + 1) % KNOWN;
        atNanos = now;
    }

    boolean contains(long number) {
        return Arrays.stream(numbers).anyMatch(it -> it == number);
    }
}
