package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.redis.internal.address.AddressCheck;
import io.holdfast.redis.internal.address.AddressQuery;
import io.lettuce.core.RedisURI;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads an address from a text, such as a property, and refuses a mistyped one without repeating it.
 *
 * <p>{@link RedisURI#create(String)} accepts more. In {@code redis://user:12#34@localhost}, {@code #} should be {@code
 * %23}: that method reads the host {@code user} and the port 12, which then appear in logs, errors and DNS queries. Its
 * errors repeat the text. It also ignores a parameter that it does not know, such as {@code timeot=2s}.
 *
 * <pre>{@code
 * RedisLockBackend backend = RedisLockBackend.create(RedisAddress.parse(text));
 * }</pre>
 */
public final class RedisAddress {

    private static final String HOST = "(?:[A-Za-z0-9.-]+|\\[[0-9A-Fa-f:.]+\\])";
    private static final String HOST_AND_PORT = HOST + "(?::[0-9]{1,5})?";
    private static final String CREDENTIALS = "(?:[^@/?#\\[\\]]*@)?";
    private static final String QUERY = "(?:\\?[^@#]*)?";

    private static final Pattern SERVER = Pattern.compile(
            "(?:redis|rediss|redis\\+ssl|redis\\+tls)://" + CREDENTIALS + HOST_AND_PORT + "(?:/[0-9]*)?" + QUERY);

    private static final Pattern SENTINELS = Pattern.compile("rediss?-sentinel://" + CREDENTIALS + HOST_AND_PORT
            + "(?:," + HOST_AND_PORT + ")*(?:/[0-9]*)?" + QUERY + "(?:#" + AddressCheck.MASTER_NAME + ")?");

    private static final Pattern SOCKET = Pattern.compile("redis[-+]socket://" + CREDENTIALS + "/[^@?#]+" + QUERY);

    private static final Pattern BEGINNING =
            Pattern.compile("(?:rediss?|redis\\+(?:ssl|tls|socket)|rediss?-sentinel|redis-socket)://.*");

    /** Matches an address without credentials whose port is not a number. */
    private static final Pattern BAD_PORT =
            Pattern.compile("[^@]*://(?:" + HOST_AND_PORT + ",)*" + HOST + ":(?![0-9]{1,5}(?:[,/?#]|$))[^@]*");

    private static final String FORM =
            "write it as redis://host:port, or rediss://host:port for TLS, with user:password@ before the host if needed. ";

    private RedisAddress() {}

    /**
     * Reads one address.
     *
     * @param text {@code redis://}, {@code rediss://}, {@code redis-sentinel://}, {@code rediss-sentinel://} or {@code
     *     redis-socket://}, as for {@link RedisURI#create(String)}; special characters of user and password in percent
     *     encoding. Its parameters are {@code timeout}, {@code database} or {@code db}, {@code clientName}, {@code
     *     libraryName}, {@code libraryVersion}, {@code verifyPeer} and {@code sentinelMasterId}
     * @return the address
     * @throws IllegalArgumentException if the text is not such an address; the message says what may be wrong. Of the
     *     text, the message repeats only the name of an unknown parameter, if that name consists of letters
     */
    public static RedisURI parse(String text) {
        requireNonNull(text, "text");
        boolean isReadable = text.chars().noneMatch(c -> Character.isWhitespace(c) || Character.isISOControl(c))
                && (SERVER.matcher(text).matches()
                        || SENTINELS.matcher(text).matches()
                        || SOCKET.matcher(text).matches());
        if (!isReadable) {
            throw new IllegalArgumentException(whatIsWrong(text));
        }
        URI read = read(text);
        AddressQuery.require(read.getQuery());
        RedisURI address = created(text, read);
        AddressCheck.require("the address", address);
        return address;
    }

    /** Throws without a cause: the cause repeats the text. */
    private static URI read(String text) {
        try {
            return URI.create(text);
        } catch (IllegalArgumentException repeatsTheText) {
            throw new IllegalArgumentException(whatIsWrong(text));
        }
    }

    /** Throws without a cause, for the same reason. */
    private static RedisURI created(String text, URI read) {
        try {
            return RedisURI.create(read);
        } catch (RuntimeException repeatsTheText) {
            throw new IllegalArgumentException(whatIsWrong(text));
        }
    }

    private static String whatIsWrong(String text) {
        Matcher beginning = BEGINNING.matcher(text);
        if (!beginning.matches()) {
            return "the address is not an address of Redis: " + FORM + AddressCheck.NOT_REPEATED;
        }
        return BAD_PORT.matcher(text).matches()
                ? "the address has a port that is not a number, or a ':' too many: " + FORM + AddressCheck.ENCODING
                : "the address cannot be read: " + FORM + AddressCheck.ENCODING;
    }
}
