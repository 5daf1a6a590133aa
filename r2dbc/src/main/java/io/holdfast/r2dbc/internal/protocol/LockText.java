package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.LockKind;

/** How locks are named in the database. */
public final class LockText {

    /** PostgreSQL stores no NUL in a text. These two characters stand for NUL and for the first of them; no sensible name has either. */
    private static final char ESCAPE = '\u0001';

    private LockText() {}

    /** The name in the column {@code name}: that of the lock, but for two control characters. */
    public static String name(String lockName) {
        if (lockName.indexOf('\0') < 0 && lockName.indexOf(ESCAPE) < 0) {
            return lockName;
        }
        return lockName.replace(String.valueOf(ESCAPE), ESCAPE + "1").replace("\0", ESCAPE + "0");
    }

    /** The name of the lock with that name in the column. */
    public static String lockName(String stored) {
        return stored.indexOf(ESCAPE) < 0
                ? stored
                : stored.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", String.valueOf(ESCAPE));
    }

    /** The column {@code kind}: both sides of a read/write lock are one lock. */
    public static String kind(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ, WRITE -> "rw";
            case SEMAPHORE -> "semaphore";
        };
    }

    /** How a claim wants to hold the lock. */
    public static String mode(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ -> "read";
            case WRITE -> "write";
            case SEMAPHORE -> "semaphore";
        };
    }
}
