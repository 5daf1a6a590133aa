package io.holdfast.internal.claim;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.OwnerLabel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A lease as a text with which another process takes it over: the claim with all that a back end may need. The text has
 * letters, digits, {@code -}, {@code _} and dots. The claim has its usual lease duration and the number of its last
 * attempt, and {@code minHoldNanos} is the rest of its least hold time.
 */
record ExportedLease(LockClaim claim, long fencingToken, long minHoldNanos) {

    /** The longest text: a name of {@value LockKey#MAX_NAME_BYTES} bytes and a long id fit in. */
    static final int MOST_CHARS = 4_096;

    /** The highest attempt that a text may have. Each export adds one, so many later exports still have a number. */
    private static final int LAST_ATTEMPT = 1 << 30;

    private static final String VERSION = "holdfast-lease-1.";

    private static final Pattern NEWER = Pattern.compile("holdfast-lease-([2-9]|\\d{2,})\\.");

    /** An id that the engine makes. A back end may have no room for longer ones, and would fail other requests too. */
    private static final Pattern ID = Pattern.compile(
            "[0-9a-f]{32}(" + LockClaim.OWNER_MARK + "[A-Za-z0-9._:-]{1," + OwnerLabel.MOST_CHARS + "})?");

    /** The name is the last part, since it may contain any characters. */
    private static final int PARTS = 9;

    String text() {
        LockKey key = claim.key();
        String parts = String.join(
                "\n",
                key.kind().name(),
                Integer.toString(key.permits()),
                Integer.toString(claim.permits()),
                Integer.toString(claim.attempt()),
                Long.toString(fencingToken),
                Long.toString(claim.lease().toMillis()),
                Long.toString(minHoldNanos),
                claim.id(),
                key.name());
        byte[] bytes = parts.getBytes(StandardCharsets.UTF_8);
        return VERSION + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes) + '.' + checkSum(bytes);
    }

    /**
     * Reads a text, which may come from anywhere: a file or a shell may have added a line break. No message repeats the
     * text, which is a secret.
     */
    static ExportedLease of(String given) {
        String text = given.strip();
        if (text.length() > MOST_CHARS) {
            throw refused("it has %d characters, and at most %d are read".formatted(text.length(), MOST_CHARS), null);
        }
        int sum = text.lastIndexOf('.');
        if (NEWER.matcher(text).lookingAt()) {
            throw refused("a newer version of this library has exported it: upgrade this client", null);
        }
        if (!text.startsWith(VERSION) || sum < VERSION.length()) {
            throw refused("it does not begin with " + VERSION + " as this version writes it", null);
        }
        byte[] bytes = bytes(text.substring(VERSION.length(), sum));
        if (!checkSum(bytes).equals(text.substring(sum + 1))) {
            throw refused("its check sum is wrong, so it is not complete or was changed", null);
        }
        ExportedLease lease;
        try {
            lease = of(new String(bytes, StandardCharsets.UTF_8).split("\n", PARTS));
        } catch (IllegalArgumentException | ArithmeticException unreadable) {
            throw refused("a part of it is missing, or out of its range", unreadable);
        }
        if (!lease.text().equals(text)) { // a receiver that removes duplicates may compare texts
            throw refused("it is not the text that this version writes for the lease", null);
        }
        return lease;
    }

    private static byte[] bytes(String encoded) {
        try {
            return Base64.getUrlDecoder().decode(encoded);
        } catch (IllegalArgumentException unreadable) {
            throw refused("it has characters that do not belong there", unreadable);
        }
    }

    private static ExportedLease of(String[] parts) {
        if (parts.length < PARTS) {
            throw new IllegalArgumentException("%d parts in place of %d".formatted(parts.length, PARTS));
        }
        LockKey key = new LockKey(LockKind.valueOf(parts[0]), parts[8], Integer.parseInt(parts[1]));
        Duration lease = Duration.ofMillis(Long.parseLong(parts[5]));
        long token = Long.parseLong(parts[4]);
        long minHoldNanos = Long.parseLong(parts[6]);
        int attempt = Integer.parseInt(parts[3]);
        if (token < 1
                || minHoldNanos < 0
                || attempt > LAST_ATTEMPT
                || !ID.matcher(parts[7]).matches()) {
            throw new IllegalArgumentException("token, least hold time, attempt or id");
        }
        int permits = Integer.parseInt(parts[2]);
        LockClaim claim = new LockClaim(key, parts[7], lease, Waiting.NONE, attempt, 0, permits, "");
        return new ExportedLease(claim, token, minHoldNanos);
    }

    private static String checkSum(byte[] bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return "%08x".formatted(sum.getValue());
    }

    private static IllegalArgumentException refused(String why, @Nullable Throwable cause) {
        return new IllegalArgumentException("the text of an exported lease was refused: " + why, cause);
    }

    /** Leaves out the id, which a stranger cannot guess. */
    @Override
    public String toString() {
        return "ExportedLease[%s, token %d]".formatted(claim.key(), fencingToken);
    }
}
