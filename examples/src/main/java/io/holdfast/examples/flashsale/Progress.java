package io.holdfast.examples.flashsale;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/** Shows the progress of the sale: on a terminal in one line that changes, elsewhere in a new line from time to time. */
final class Progress {

    private static final long LIVE_NANOS = Duration.ofMillis(100).toNanos();
    private static final long PLAIN_NANOS = Duration.ofSeconds(1).toNanos();

    /** Carriage return, and erase to the end of the line. */
    private static final String REWRITE = "\r\033[K";

    private final PrintStream out;
    private final boolean isLive;

    /** Written by the coordinator's thread. */
    private long shownNanos;

    Progress(PrintStream out, boolean isLive) {
        this.out = out;
        this.isLive = isLive;
        shownNanos = System.nanoTime();
    }

    void show(int answered, int buyers, int stock) {
        long now = System.nanoTime();
        if (now - shownNanos < (isLive ? LIVE_NANOS : PLAIN_NANOS)) {
            return;
        }
        shownNanos = now;
        String line = String.format(
                Locale.ROOT, "  %,7d of %,d buyers answered, %,d items in stock", answered, buyers, stock);
        out.print(isLive ? REWRITE + line : line + "\n");
        out.flush();
    }

    /** Prints a line that stays. */
    void say(String line) {
        out.print((isLive ? REWRITE : "") + line + "\n");
        out.flush();
    }
}
