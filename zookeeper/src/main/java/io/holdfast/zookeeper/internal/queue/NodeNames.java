package io.holdfast.zookeeper.internal.queue;

import io.holdfast.spi.LockClaim;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Names of locks and claims as names of nodes: letters, digits and {@code -} stay, every other byte of the UTF-8 form becomes {@code %} and
 * two digits. So two names never become the same node, and no node name contains {@code /}, is {@code .} or {@code ..}, or contains a
 * character that ZooKeeper refuses (the Programmer's Guide, "The ZooKeeper Data Model"). {@link QueueNode} uses {@code _} as the separator.
 */
public final class NodeNames {

    private static final String HEX = "0123456789ABCDEF";

    private NodeNames() {}

    /**
     * Returns the encoded id of the claim without the label of its owner. The label is in the data of the node, since all clients list the
     * names.
     */
    public static String ofClaim(LockClaim claim) {
        return ofClaim(claim.id());
    }

    /** Does the same for the id of a claim. */
    public static String ofClaim(String id) {
        int mark = id.indexOf(LockClaim.OWNER_MARK);
        return encode(mark < 0 ? id : id.substring(0, mark));
    }

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

    /** Decodes the name of a node; empty if this class did not encode it. */
    public static Optional<String> decode(String node) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(node.length());
        for (int i = 0; i < node.length(); i++) {
            char c = node.charAt(i);
            boolean isEscape =
                    c == '%' && i + 2 < node.length() && isHex(node.charAt(i + 1)) && isHex(node.charAt(i + 2));
            bytes.write(isEscape ? HexFormat.fromHexDigits(node, i + 1, i + 3) : c);
            i += isEscape ? 2 : 0;
        }
        String name = bytes.toString(StandardCharsets.UTF_8);
        return encode(name).equals(node) ? Optional.of(name) : Optional.empty();
    }

    private static boolean isHex(char c) {
        return HEX.indexOf(c) >= 0;
    }
}
