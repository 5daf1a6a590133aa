package io.holdfast.redis.internal.protocol;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A secret of one client and its server that no reader of the channels knows: the server signs each grant with it
 * (push.lua). Each attempt that may be queued brings it, and the entry of the waiter keeps it. A user of the server
 * with rights to the lock's keys can read it there, and could write the lock itself just as well.
 */
public final class GrantSecret {

    private static final int BYTES = 16;

    private final String text;

    private GrantSecret(String text) {
        this.text = text;
    }

    /** Makes a new secret; not on an event loop. */
    public static GrantSecret random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return new GrantSecret(HexFormat.of().formatHex(bytes));
    }

    /** Returns the secret in lower-case hexadecimal. */
    public String text() {
        return text;
    }

    /** Returns the signature of a message on a channel, as push.lua makes it. */
    String sign(String channel, String message) {
        return sha1(text + sha1(text + channel + ' ' + message));
    }

    /** Whether the server has signed this message on this channel. */
    boolean hasSigned(String channel, String signature, String message) {
        return MessageDigest.isEqual(
                sign(channel, message).getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    }

    /** SHA-1 is the hash that scripts can compute on every server. In HMAC's two rounds it is as good as any. */
    private static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-1", e);
        }
    }
}
