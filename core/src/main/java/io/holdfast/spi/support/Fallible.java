package io.holdfast.spi.support;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/**
 * Runs code that may throw anything, such as users' code. What it throws is logged, even an error that Reactor throws at
 * once instead of passing it on: the caller goes on with the code that waits behind it, which belongs to other locks.
 */
public final class Fallible {

    private static final Logger LOG = LoggerFactory.getLogger(Fallible.class);

    private Fallible() {}

    /**
     * Runs the code.
     *
     * @param code may throw anything
     * @param log gets what it throws
     * @param line the message for that
     */
    public static void run(Runnable code, Logger log, String line) {
        try {
            code.run();
        } catch (Throwable thrown) {
            log(thrown, log, line);
        }
    }

    /**
     * Logs something by the way. What the caller does next is more important than a log that throws.
     *
     * @param line writes to the log
     */
    public static void tell(Runnable line) {
        run(line, LOG, "a line could not be logged");
    }

    /**
     * Logs what was thrown, if the log can do that.
     *
     * @param thrown anything
     * @param log gets it
     * @param line the message
     */
    public static void log(Throwable thrown, Logger log, String line) {
        try {
            log.error(line, thrown);
        } catch (Throwable another) {
            // without memory the log fails too; the caller must go on all the same
        }
    }

    /**
     * Returns an error that a publisher can signal. Reactor's operators throw an error of the JVM, such as a
     * {@link LinkageError}, instead of passing it on, so that the request never ends.
     *
     * @param thrown what a driver, or users' code, has thrown
     * @return the same, or an exception with an error of the JVM as its cause
     */
    public static Throwable passable(Throwable thrown) {
        return Exceptions.isJvmFatal(thrown) ? new IllegalStateException("failed: " + thrown, thrown) : thrown;
    }
}
