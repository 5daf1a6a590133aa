package io.holdfast.internal;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * One turn of the engine on one thread: first all that the engine has to do, renewals above all, then the users' code that follows from it
 * (handlers, fallbacks, listeners, the work under a lock). So users' code that takes long makes nothing late that was due with it.
 */
final class Turn {

    private static final Logger LOG = LoggerFactory.getLogger(Turn.class);

    /** The users' code of the turn that this thread takes; absent outside of turns. */
    private static final ThreadLocal<@Nullable Queue<Runnable>> USERS_CODE = new ThreadLocal<>();

    private Turn() {}

    /** Does that, and then the users' code that came of it. Within a turn it is a part of that. */
    static void take(Runnable engineWork) {
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

    /** Whether this thread takes one, so that users' code has to wait. */
    static boolean isTaken() {
        return USERS_CODE.get() != null;
    }

    /** Runs users' code: at the end of the turn that this thread takes, or now. */
    static void runUsersCode(Runnable code) {
        Queue<Runnable> later = USERS_CODE.get();
        if (later == null) {
            code.run();
        } else {
            later.add(code);
        }
    }

    private static void run(Runnable usersCode) {
        try {
            usersCode.run();
        } catch (Throwable broken) {
            Exceptions.throwIfJvmFatal(broken);
            LOG.error("a subscriber threw", broken);
        }
    }
}
