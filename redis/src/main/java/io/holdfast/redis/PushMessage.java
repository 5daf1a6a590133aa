package io.holdfast.redis;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A message on a client's channel, as the scripts write it: {@code G <token> <attempt> <ms> <length of id> <id> <holder key>}
 * for a grant, {@code C <id>} for a hint to look again.
 *
 * @param claimId whom it concerns
 * @param signal what to tell it
 * @param keys the granted lock, or null for a hint
 */
record PushMessage(
        String claimId, WatchSignal signal, @Nullable LockKeys keys) {

    private static final int PARTS_OF_A_GRANT = 6;

    /** Reads a message; null for anything else that somebody may publish on the channel. */
    static @Nullable PushMessage parse(String text) {
        if (text.startsWith("C ") && text.length() > 2) {
            return new PushMessage(text.substring(2), new WatchSignal.Changed(), null);
        }
        return text.startsWith("G ") ? grant(text.split(" ", PARTS_OF_A_GRANT)) : null;
    }

    /**
     * {@code H <ms> <id>}: this claim has come to the head of its queue, and no push tells it if the one before it hangs.
     *
     * @param claimId whom it concerns
     * @param lookWithin when to look, if it is not served before
     */
    record Head(String claimId, Duration lookWithin) {

        private static final Pattern MESSAGE = Pattern.compile("H (\\d{1,9}) (.+)", Pattern.DOTALL);

        static @Nullable Head parse(String text) {
            Matcher parts = MESSAGE.matcher(text);
            return parts.matches() ? new Head(parts.group(2), Duration.ofMillis(Long.parseLong(parts.group(1)))) : null;
        }
    }

    private static @Nullable PushMessage grant(String[] parts) {
        try {
            return parts.length == PARTS_OF_A_GRANT ? grant(parts, Integer.parseInt(parts[4]), parts[5]) : null;
        } catch (NumberFormatException notOurs) {
            return null;
        }
    }

    private static @Nullable PushMessage grant(String[] parts, int idLength, String idAndKey) {
        if (idLength < 1 || idLength + 1 >= idAndKey.length() || idAndKey.charAt(idLength) != ' ') {
            return null;
        }
        LockKeys keys = LockKeys.parse(idAndKey.substring(idLength + 1));
        if (keys == null) {
            return null;
        }
        WatchSignal signal = new WatchSignal.Granted(
                Long.parseLong(parts[1]), Integer.parseInt(parts[2]), Duration.ofMillis(Long.parseLong(parts[3])));
        return new PushMessage(idAndKey.substring(0, idLength), signal, keys);
    }
}
