package io.holdfast.zookeeper.internal.queue;

import java.nio.charset.StandardCharsets;

/**
 * Names of locks and claims as names of nodes: letters, digits and {@code -} stay, every other byte of the UTF-8 form becomes {@code %} and two
 * digits. So two names never become one, no name has a {@code /}, and none is {@code .}, {@code ..} or one of the characters that
 * ZooKeeper refuses (the Programmer's Guide, "The ZooKeeper Data Model"). {@code _} is left for {@link QueueNode} to separate with.
 */
public final class NodeNames {

    private static final String HEX = "0123456789ABCDEF";

    private NodeNames() {}

    public static String encode(String name) {
        return isPlain(name) ? name : escape(name);
    }

    private static boolean isPlain(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (!isPlain(name.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static String escape(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        StringBuilder encoded = new StringBuilder(bytes.length + 16);
        for (byte b : bytes) {
            if (b >= 0 && isPlain((char) b)) {
                encoded.append((char) b);
            } else {
                encoded.append('%').append(HEX.charAt((b >> 4) & 0xF)).append(HEX.charAt(b & 0xF));
            }
        }
        return encoded.toString();
    }

    private static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    }
}
