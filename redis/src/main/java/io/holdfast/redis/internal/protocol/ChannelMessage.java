package io.holdfast.redis.internal.protocol;

import io.holdfast.LossReason;
import io.holdfast.spi.WatchSignal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a server says about claims of this client, on its channel or in an answer to it. On the channel, as the scripts write it:
 * {@code G <signature> <token> <attempt> <ms> <length of ids> <ids> <holder key>} for a grant, {@code C <id>} for a hint to send an
 * attempt, {@code L <signature> <number> <length of ids> <ids> <holder key>} for a run that was broken. Line feeds separate ids; the
 * token of several is the number of their run.
 *
 * <p>Users of the server with rights to the channel can publish any message there. So a grant or a loss counts only with the
 * signature of this client's {@link GrantSecret} for this very channel. A hint proves nothing: the answer to an attempt
 * decides.
 *
 * @param claimIds the claim that it concerns; all members of a run that was broken
 * @param signal the signal for them
 * @param keys the lock, or null for a hint
 */
public record ChannelMessage(
        List<String> claimIds, WatchSignal signal, @Nullable LockKeys keys) {

    private static final int PARTS_OF_A_GRANT = 5;
    private static final int PARTS_OF_A_LOSS = 3;

    /** Reads a message; null for any other text on the channel. */
    public static @Nullable ChannelMessage parse(String channel, String text, GrantSecret secret, String keyPrefix) {
        if (text.startsWith("C ") && text.length() > 2) {
            return new ChannelMessage(List.of(text.substring(2)), new WatchSignal.Changed(), null);
        }
        boolean isGrant = text.startsWith("G ");
        int signed = isGrant || text.startsWith("L ") ? text.indexOf(' ', 2) : -1;
        if (signed < 0 || !secret.hasSigned(channel, text.substring(2, signed), text.substring(signed + 1))) {
            return null;
        }
        String[] parts = text.substring(signed + 1).split(" ", isGrant ? PARTS_OF_A_GRANT : PARTS_OF_A_LOSS);
        try {
            return isGrant ? grant(parts, keyPrefix) : loss(parts, keyPrefix);
        } catch (IllegalArgumentException | IndexOutOfBoundsException notOurs) {
            return null;
        }
    }

    private static @Nullable ChannelMessage grant(String[] parts, String keyPrefix) {
        KeyAndIds lock = KeyAndIds.of(parts[3], parts[4], keyPrefix);
        return lock == null
                ? null
                : Replies.granted(
                        lock.keys,
                        Long.parseLong(parts[0]),
                        Long.parseLong(parts[1]),
                        Long.parseLong(parts[2]),
                        1,
                        lock.ids);
    }

    private static @Nullable ChannelMessage loss(String[] parts, String keyPrefix) {
        KeyAndIds lock = KeyAndIds.of(parts[1], parts[2], keyPrefix);
        return lock == null
                ? null
                : new ChannelMessage(
                        List.of(lock.ids.split("\n")),
                        new WatchSignal.LostRun(Long.parseLong(parts[0]), LossReason.NOT_HELD),
                        lock.keys);
    }

    private record KeyAndIds(LockKeys keys, String ids) {

        static @Nullable KeyAndIds of(String length, String text, String keyPrefix) {
            int end = Integer.parseInt(length);
            LockKeys keys = text.charAt(end) == ' ' ? LockKeys.parse(keyPrefix, text.substring(end + 1)) : null;
            return keys == null ? null : new KeyAndIds(keys, text.substring(0, end));
        }
    }

    /** Returns the claim that gets a grant or a hint. */
    public String claimId() {
        return claimIds.get(0);
    }

    /** Whether it is about this lock. */
    public boolean isFor(String holderKey) {
        return keys != null && keys.holder().equals(holderKey);
    }

    /** Returns the token of a grant, or the number of its run. */
    public long token() {
        return signal instanceof WatchSignal.GrantedRun run
                ? run.run().number()
                : signal instanceof WatchSignal.Granted alone ? alone.fencingToken() : 0;
    }

    /** Returns the attempt that a grant answers. */
    public int attempt() {
        return signal instanceof WatchSignal.GrantedRun run
                ? run.attempt()
                : signal instanceof WatchSignal.Granted alone ? alone.attempt() : 0;
    }
}
