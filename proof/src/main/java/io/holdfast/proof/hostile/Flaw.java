package io.holdfast.proof.hostile;

import java.util.List;
import java.util.Locale;

/** What can be wrong on purpose, by a system property of the campaign, to see that it is found. */
enum Flaw {
    /** Servers of a Redlock that come back empty vote at once. */
    NO_QUARANTINE;

    private static final String PROPERTY = "hostile.flaw";

    boolean isThere() {
        return name().toLowerCase(Locale.ROOT).equals(System.getProperty(PROPERTY));
    }

    /** What tells a client process of it. */
    static List<String> options() {
        String flaw = System.getProperty(PROPERTY);
        return flaw == null ? List.of() : List.of("-D" + PROPERTY + "=" + flaw);
    }
}
