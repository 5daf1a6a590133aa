package io.holdfast.redis;

import com.google.errorprone.annotations.Immutable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One script: its text and the SHA-1 by which the server knows it.
 *
 * @param name for messages
 * @param body the text, included parts and all
 * @param sha lower-case hexadecimal
 */
@Immutable
record LuaScript(String name, String body, String sha) {

    private static final Pattern INCLUDE = Pattern.compile("--#include (\\S+)");

    /** Reads a file, so not on an event loop. */
    static LuaScript load(String name) {
        String body = INCLUDE.matcher(read(name + ".lua"))
                .replaceAll(include -> Matcher.quoteReplacement(read(include.group(1))));
        return new LuaScript(name, body, sha1(body));
    }

    private static String read(String file) {
        try (InputStream in = LuaScript.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("script " + file + " is not readable", e);
        }
    }

    private static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-1", e);
        }
    }
}
