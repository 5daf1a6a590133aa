package io.holdfast.internal.engine;

import io.holdfast.LockEvent;
import io.holdfast.spi.support.Printable;
import java.time.Duration;

/** Formats an event as a printable line for the log: a sentence for what an operator should see, else its components. */
final class EventText {

    private EventText() {}

    static String of(LockEvent event) {
        return Printable.text(text(event));
    }

    private static String text(LockEvent event) {
        if (event instanceof LockEvent.WithdrawalUnconfirmed e) {
            return "lock '%s': a claim that is no longer needed could not be withdrawn; the back end frees it when its lease ends: %s"
                    .formatted(e.lockName(), e.error().getMessage());
        } else if (event instanceof LockEvent.ReleaseUnconfirmed e) {
            return "lock '%s' with token %d, held for %s, could not be released; the back end frees it when its lease ends: %s"
                    .formatted(
                            e.lockName(),
                            e.fencingToken(),
                            time(e.held()),
                            e.error().getMessage());
        } else if (event instanceof LockEvent.Lost e) {
            return "lock '%s' with token %d lost after %s: %s (%s)"
                    .formatted(e.lockName(), e.fencingToken(), time(e.held()), why(e), e.reason());
        } else if (event instanceof LockEvent.LeaseAbandoned e) {
            return "lock '%s' with token %d was dropped without a release, found after %s, and is being released; withLock would not drop it"
                    .formatted(e.lockName(), e.fencingToken(), time(e.held()));
        }
        return event.toString();
    }

    /** Returns the message without its beginning, which has the name and the token, too. */
    private static String why(LockEvent.Lost lost) {
        String message = String.valueOf(lost.error().getMessage());
        String beginning = "lock '%s' (fencing token %d) was lost: ".formatted(lost.lockName(), lost.fencingToken());
        return message.startsWith(beginning) ? message.substring(beginning.length()) : message;
    }

    private static String time(Duration duration) {
        return duration.toMillis() + " ms";
    }
}
