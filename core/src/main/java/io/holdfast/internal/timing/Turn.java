package io.holdfast.internal.timing;

import io.holdfast.spi.support.Fallible;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One turn of the engine on one thread: first the engine's own work, such as renewals, then the users' code that
 * follows from it (handlers, fallbacks, listeners, the work under a lock). So slow users' code does not delay engine
 * work that was due at the same time.
 */
public final class Turn {

    private static final Logger LOG = LoggerFactory.getLogger(Turn.class);

    /** The users' code of this thread's turn; absent outside of turns. */
    private static final ThreadLocal<@Nullable Queue<Runnable>> USERS_CODE = new ThreadLocal<>();

    private Turn() {}

    /** Runs engine work, and then the users' code that follows from it. A turn within a turn is a part of it. */
    public static void take(Runnable engineWork) {
        if (USERS_CODE.get() != null) {
            engineWork.run();
            return;
        }
        Queue<Runnable> usersCode = new ArrayDeque<>();
        USERS_CODE.set(usersCode);
        try {
            engineWork.run();
        } finally {
            USERS_CODE.remove();
            for (Runnable next = usersCode.poll(); next != null; next = usersCode.poll()) {
                run(next);
            }
        }
    }

    public static boolean isTaken() {
        return USERS_CODE.get() != null;
    }

    public static void runUsersCode(Runnable code) {
        Queue<Runnable> later = USERS_CODE.get();
        if (later == null) {
            run(code);
        } else {
            later.add(code);
        }
    }

    private static void run(Runnable usersCode) {
        Fallible.run(usersCode, LOG, "a subscriber threw");
    }
}
