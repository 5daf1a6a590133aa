package io.holdfast.proof.soak;

import java.util.Locale;

/** Leaks on purpose, which show that the judge finds them. */
enum Flaw {
    /** No leak. */
    NONE,
    /** The client process keeps a listener of about 100 bytes for each thousand cycles. */
    LEAK_LISTENER,
    /** The client process opens a connection for each thousand cycles, and does not close it. */
    LEAK_CONNECTION;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Flaw parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
