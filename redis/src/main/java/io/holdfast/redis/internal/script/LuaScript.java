package io.holdfast.redis.internal.script;

import com.google.errorprone.annotations.Immutable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One script: its text, and the SHA-1 by which the server knows it. The text goes to each server that does not know it,
 * and stays there, so it has no comments.
 *
 * @param name for messages
 * @param body the text with its included parts, without comments other than its first line, and without indentation
 * @param sha lower-case hexadecimal
 */
@Immutable
public record LuaScript(String name, String body, String sha) {

    private static final Pattern INCLUDE = Pattern.compile("--#include (\\S+)");

    /** A string, which may hold two dashes, or a comment up to the end of its line. */
    private static final Pattern STRING_OR_COMMENT = Pattern.compile("('[^'\\n]*'|\"[^\"\\n]*\")|--[^\\n]*");

    private static final Pattern LINE_ENDS = Pattern.compile("\\s*\\n\\s*");

    /** How long a script keeps the last token of a lock, unless the caller says otherwise. */
    public static final Duration USUAL_TOKEN_TIME = Duration.ofHours(2);

    /** Reads a file, so not on an event loop. */
    public static LuaScript load(String name) {
        return load(name, USUAL_TOKEN_TIME);
    }

    /**
     * Reads a file, so not on an event loop.
     *
     * @param tokensKept whole seconds, written into the text: so no call has to send them
     */
    public static LuaScript load(String name, Duration tokensKept) {
        String seconds = Long.toString(tokensKept.toSeconds());
        String body = compact(read(name + ".lua"))
                .replace("KEPT_MILLIS", seconds + "000")
                .replace("KEPT_SECONDS", seconds);
        return new LuaScript(name, body, sha1(body));
    }

    /**
     * Removes what the server does not need. The scripts of this package have no strings or comments of several lines.
     */
    static String compact(String text) {
        String title = text.substring(0, text.indexOf('\n') + 1); // names the script in the server's log
        String code = STRING_OR_COMMENT
                .matcher(text)
                .replaceAll(it -> it.group(1) == null ? "" : Matcher.quoteReplacement(it.group(1)));
        return title + LINE_ENDS.matcher(code.strip() + "\n").replaceAll("\n");
    }

    private static String read(String file) {
        return INCLUDE.matcher(readFile(file)).replaceAll(include -> Matcher.quoteReplacement(read(include.group(1))));
    }

    private static String readFile(String file) {
        try (InputStream in = LuaScript.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(in, file).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("script " + file + " is not readable", e);
        }
    }

    /** Returns the SHA-1 of a text in lower-case hexadecimal: the hash that scripts can compute on every server. */
    public static String sha1(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-1", e);
        }
    }
}
