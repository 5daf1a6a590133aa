package io.holdfast.redis.internal.protocol;

import io.holdfast.redis.internal.script.LuaScript;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * A secret of one client and its server that no reader of the channels knows: the server signs each grant with it
 * (grants.lua). Each attempt that may be queued brings it, and the entry of the waiter keeps it. A user of the server
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

    /** Returns the signature of a message on a channel, as the scripts make it. In HMAC's two rounds SHA-1 is as good as any. */
    String sign(String channel, String message) {
        return LuaScript.sha1(text + LuaScript.sha1(text + channel + ' ' + message));
    }

    /** Whether the server has signed this message on this channel. */
    boolean hasSigned(String channel, String signature, String message) {
        return MessageDigest.isEqual(
                sign(channel, message).getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    }
}
