package io.holdfast.redis.internal.protocol;

import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A message on a client's channel that concerns one claim, as the scripts write it: {@code G <signature> <token>
 * <attempt> <ms> <length of id> <id> <holder key>} for a grant, {@code C <id>} for a hint to send an attempt.
 *
 * <p>Users of the server with rights to the channel can publish any message there. So a grant counts only with the
 * signature of this client's {@link GrantSecret} for this very channel. A hint proves nothing: the answer to an attempt
 * decides.
 *
 * @param claimId the claim that it concerns
 * @param signal the signal for that claim
 * @param keys the granted lock, or null for a hint
 */
public record ChannelMessage(
        String claimId, WatchSignal signal, @Nullable LockKeys keys) {

    private static final int PARTS_OF_A_GRANT = 5;

    /** Reads a grant or a hint; null for any other message on the channel. */
    public static @Nullable ChannelMessage parse(String channel, String text, GrantSecret secret, String keyPrefix) {
        if (text.startsWith("C ") && text.length() > 2) {
            return new ChannelMessage(text.substring(2), new WatchSignal.Changed(), null);
        }
        int signed = text.startsWith("G ") ? text.indexOf(' ', 2) : -1;
        if (signed < 0) {
            return null;
        }
        String grant = text.substring(signed + 1);
        return secret.hasSigned(channel, text.substring(2, signed), grant) ? grant(grant, keyPrefix) : null;
    }

    /**
     * {@code H <ms> <id>}: this claim has come to the head of its queue. If the claim before it hangs, no push will
     * come. A line feed separates the ids of several claims.
     *
     * @param claimIds the claims that it concerns
     * @param attemptWithin when to send an attempt, unless the claim is served before
     */
    public record Head(List<String> claimIds, Duration attemptWithin) {

        private static final Pattern MESSAGE = Pattern.compile("H (\\d{1,9}) (.+)", Pattern.DOTALL);

        public static @Nullable Head parse(String text) {
            Matcher parts = MESSAGE.matcher(text);
            return parts.matches()
                    ? new Head(List.of(parts.group(2).split("\n")), Duration.ofMillis(Long.parseLong(parts.group(1))))
                    : null;
        }
    }

    private static @Nullable ChannelMessage grant(String text, String keyPrefix) {
        String[] parts = text.split(" ", PARTS_OF_A_GRANT);
        try {
            return parts.length == PARTS_OF_A_GRANT
                    ? grant(parts, Integer.parseInt(parts[3]), parts[4], keyPrefix)
                    : null;
        } catch (NumberFormatException notOurs) {
            return null;
        }
    }

    private static @Nullable ChannelMessage grant(String[] parts, int idLength, String idAndKey, String keyPrefix) {
        if (idLength < 1 || idLength + 1 >= idAndKey.length() || idAndKey.charAt(idLength) != ' ') {
            return null;
        }
        LockKeys keys = LockKeys.parse(keyPrefix, idAndKey.substring(idLength + 1));
        WatchSignal.Granted granted =
                Replies.granted(Long.parseLong(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
        return keys == null || granted == null
                ? null
                : new ChannelMessage(idAndKey.substring(0, idLength), granted, keys);
    }

    /** Whether it is a grant that this claim can have got: of its lock, and for no longer than such grants last. */
    public boolean isFor(String holderKey, Duration lease) {
        return keys != null
                && keys.holder().equals(holderKey)
                && signal instanceof WatchSignal.Granted granted
                // Up to half a lease since the attempt, and then the claim time, which is a lease at most.
                && granted.lease().compareTo(lease.multipliedBy(2)) <= 0;
    }
}
