package io.holdfast.internal.memory;

/** One rising counter for all locks of a back end, so that it keeps nothing for a free lock. */
final class Tokens {

    /** Every token stays exact in a double (Redis scripts compute in doubles), with room for 2^40 grants above any floor. */
    static final long FLOOR_LIMIT = (1L << 53) - (1L << 40);

    /** The highest granted token; written by {@link #next} and {@link #raised}. */
    private long last;

    long next(long floor) {
        last = Math.max(last + 1, floor);
        return last;
    }

    void reserve(int more) {
        last += more;
    }

    long raised(long token, long floor) {
        if (floor <= token) {
            return token;
        }
        last = Math.max(last, floor);
        return floor;
    }

    static void check(long floor) {
        if (floor >= FLOOR_LIMIT) {
            throw new IllegalArgumentException(
                    "tokenFloor must be less than 2^53 - 2^40 = %d, was %d".formatted(FLOOR_LIMIT, floor));
        }
    }
}
