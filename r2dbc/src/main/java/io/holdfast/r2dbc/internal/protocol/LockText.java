package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.LockKind;
import java.util.Locale;

/** The names of locks in the database. */
public final class LockText {

    /**
     * PostgreSQL stores no NUL in a text. This character and a digit stand for NUL, or for the character itself. Usual names contain
     * neither.
     */
    private static final char ESCAPE = '\u0001';

    private LockText() {}

    /** Returns the name in the column {@code name}: the name of the lock, except for two control characters. */
    public static String name(String lockName) {
        if (lockName.indexOf('\0') < 0 && lockName.indexOf(ESCAPE) < 0) {
            return lockName;
        }
        return lockName.replace(String.valueOf(ESCAPE), ESCAPE + "1").replace("\0", ESCAPE + "0");
    }

    /** Returns the name of the lock for a name in the column. */
    public static String lockName(String stored) {
        return stored.indexOf(ESCAPE) < 0
                ? stored
                : stored.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", String.valueOf(ESCAPE));
    }

    /** Returns the column {@code kind}: both sides of a read/write lock are one lock. */
    public static String kind(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ, WRITE -> "rw";
            case SEMAPHORE -> "semaphore";
        };
    }

    /** Returns how a claim wants to hold the lock. */
    public static String mode(LockKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
