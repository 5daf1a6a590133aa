package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.address.AddressCheck;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Shows which master has which slot, as one server of the cluster sees it. Immutable. */
final class SlotMap {

    static final int SLOTS = 16_384;

    private static final int LAST_PORT = 65_535;

    /** How many texts are tried for a hash tag, some milliseconds at most: enough for a master with a dozen slots. */
    private static final int MOST_TAGS = 1 << 14;

    /** Knows no slot. */
    static final SlotMap EMPTY = new SlotMap(new @Nullable Node[SLOTS]);

    /** A server's address: the one that the cluster reports, or, without that, the one that the request was sent to. */
    record Node(String host, int port) {

        /** Returns the part of a channel's name. */
        String tag() {
            return ":" + host + ":" + port;
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    private final @Nullable Node[] masters;
    private final List<Node> nodes;

    private SlotMap(@Nullable Node[] masters) {
        this.masters = masters;
        nodes = nodesOf(masters);
    }

    /**
     * Reads the answer to CLUSTER SLOTS: lists of first slot, last slot, and servers, the master first.
     *
     * @param asked replaces a host that the cluster does not report, as the protocol requires
     * @throws RedisException if the answer has another form
     */
    static SlotMap read(List<?> answer, Node asked) {
        @Nullable Node[] masters = new @Nullable Node[SLOTS];
        for (Object range : answer) {
            if (range instanceof List<?> parts && parts.size() > 2 && parts.get(2) instanceof List<?> master) {
                int first = number(parts.get(0));
                int last = number(parts.get(1));
                if (first < 0 || last >= SLOTS || first > last || master.size() < 2) {
                    throw malformed();
                }
                Arrays.fill(masters, first, last + 1, node(host(master.get(0), asked), number(master.get(1))));
            }
        }
        return new SlotMap(masters);
    }

    /** The content of {@code MOVED} or {@code ASK}. */
    record Redirection(int slot, Node target, boolean isAsk) {}

    /**
     * Reads {@code MOVED <slot> <host>:<port>} or {@code ASK …}; null if the text is another one, or names no server.
     */
    static @Nullable Redirection redirection(String error, Node asked) {
        String[] words = error.split(" ", -1);
        int colon = words.length < 3 ? -1 : words[2].lastIndexOf(':');
        if (colon < 0 || !(words[0].equals("MOVED") || words[0].equals("ASK"))) {
            return null;
        }
        String host = host(words[2].substring(0, colon), asked);
        try {
            Node target = node(host, Integer.parseInt(words[2].substring(colon + 1)));
            int slot = Integer.parseInt(words[1]);
            return slot < 0 || slot >= SLOTS ? null : new Redirection(slot, target, words[0].equals("ASK"));
        } catch (NumberFormatException | RedisException malformed) {
            return null;
        }
    }

    /**
     * Checks the address that a server reports for another one: the client resolves it and messages contain it, so it
     * has to be a host.
     */
    private static Node node(String host, int port) {
        if (!AddressCheck.isHost(host) || port < 1 || port > LAST_PORT) {
            throw malformed();
        }
        return new Node(host, port);
    }

    private static RedisException malformed() {
        return new RedisException("the server's answer about slots and servers is malformed");
    }

    private static String host(@Nullable Object reported, Node asked) {
        return reported instanceof String host && !host.isEmpty() && !host.equals("?") ? host : asked.host();
    }

    private static int number(Object part) {
        if (part instanceof Number number) {
            return number.intValue();
        }
        throw malformed();
    }

    /** Whether both maps have the same master for every slot. */
    boolean isSameAs(SlotMap other) {
        return Arrays.equals(masters, other.masters);
    }

    @Nullable
    Node masterOf(int slot) {
        return masters[slot];
    }

    /**
     * Returns a text that hashes to a slot of this master; null if the master has no slot, or so few that none is
     * found.
     *
     * @param first where the search begins
     */
    @Nullable
    String hashTagOf(Node master, int first) {
        if (!nodes().contains(master)) {
            return null;
        }
        return IntStream.range(0, MOST_TAGS)
                .mapToObj(i -> Integer.toHexString(first + i))
                .filter(tag -> master.equals(masters[SlotHash.getSlot(tag.getBytes(StandardCharsets.US_ASCII))]))
                .findFirst()
                .orElse(null);
    }

    /** Returns each server once, in the order of their first slots. */
    List<Node> nodes() {
        return nodes;
    }

    private static List<Node> nodesOf(@Nullable Node[] masters) {
        Set<Node> all = new LinkedHashSet<>();
        Node before = null;
        for (Node node : masters) {
            if (node != null && !node.equals(before)) { // nearly all are in the range of the slot before
                all.add(node);
            }
            before = node;
        }
        return List.copyOf(all);
    }
}
