package io.holdfast.internal.timing;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs code that may throw anything, such as users' code. What it throws is logged, even an error that Reactor throws at
 * once instead of passing it on: the caller goes on with the code that waits behind it, which belongs to other locks.
 */
public final class Fallible {

    private static final Logger LOG = LoggerFactory.getLogger(Fallible.class);

    private Fallible() {}

    public static void run(Runnable code, Logger log, String line) {
        try {
            code.run();
        } catch (Throwable thrown) {
            log(thrown, log, line);
        }
    }

    /** Logs something by the way. What the caller does next is more important than a log that throws. */
    public static void tell(Runnable line) {
        run(line, LOG, "a line could not be logged");
    }

    public static void log(Throwable thrown, Logger log, String line) {
        try {
            log.error(line, thrown);
        } catch (Throwable another) {
            // without memory the log fails too; the caller must go on all the same
        }
    }
}
