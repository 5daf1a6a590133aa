package io.holdfast.redis.internal.address;

import io.lettuce.core.RedisURI;
import io.netty.util.NetUtil;
import java.util.regex.Pattern;

/**
 * Refuses an address whose host is not a host name. A mistyped password can get there: in {@code
 * redis://user:secret#x@localhost}, the driver reads the host {@code user:secret}, and a host appears in messages, in
 * logs, and in DNS queries. So the refusal does not repeat it.
 */
public final class AddressCheck {

    /** The characters that sentinels accept in the name of a master. */
    public static final String MASTER_NAME = "[A-Za-z0-9._-]+";

    public static final String NOT_REPEATED = "It is not repeated here, since it may hold a password";

    public static final String ENCODING =
            "In user and password, write each of # ? / @ : % [ ] and spaces in percent encoding, such as %23 for #. "
                    + NOT_REPEATED;

    private static final Pattern HOST = Pattern.compile("[\\p{L}\\p{N}._-]+");
    private static final Pattern SENTINELS_MASTER = Pattern.compile(MASTER_NAME);

    private AddressCheck() {}

    /**
     * Checks an address.
     *
     * @param what the beginning of a message
     * @throws IllegalArgumentException if a host, a socket or the name of a master is malformed; the message does not
     *     repeat it
     */
    public static void require(String what, RedisURI uri) {
        uri.getSentinels().forEach(sentinel -> require("a sentinel of " + what, sentinel));
        if (uri.getSentinels().isEmpty() || uri.getHost() != null) {
            requirePlace(what, uri);
        }
        String master = uri.getSentinelMasterId();
        if (master != null && !SENTINELS_MASTER.matcher(master).matches()) {
            throw new IllegalArgumentException(
                    what + " must have a sentinelMasterId of letters, digits, '.', '-' and '_'. " + ENCODING);
        }
    }

    private static void requirePlace(String what, RedisURI uri) {
        String socket = uri.getSocket();
        String host = uri.getHost();
        if (socket == null && (host == null || !isHost(host))) {
            throw new IllegalArgumentException(what
                    + " must have a host name or an IP address, and after a ':' a port that is a number. " + ENCODING);
        }
        if (socket != null && !isPath(socket)) {
            throw new IllegalArgumentException(what + " must have the path of a socket, without '@'. " + ENCODING);
        }
    }

    /** Whether it is a name, or an address of IPv4 or IPv6. */
    public static boolean isHost(String host) {
        return HOST.matcher(host).matches() || NetUtil.isValidIpV6Address(host);
    }

    private static boolean isPath(String socket) {
        return !socket.isBlank() && socket.indexOf('@') < 0 && socket.chars().noneMatch(Character::isISOControl);
    }
}
