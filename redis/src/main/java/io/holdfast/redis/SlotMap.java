package io.holdfast.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which master has which slot, as one server of the cluster sees it. Immutable. */
final class SlotMap {

    static final int SLOTS = 16_384;

    /** Nothing is known. */
    static final SlotMap EMPTY = new SlotMap(new @Nullable Node[SLOTS]);

    /** A server's address; what the cluster calls it, or what it was asked at when the cluster does not say. */
    record Node(String host, int port) {

        /** As part of a channel's name. */
        String tag() {
            return ":" + host + ":" + port;
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    private final @Nullable Node[] masters;

    private SlotMap(@Nullable Node[] masters) {
        this.masters = masters;
    }

    /**
     * Reads the answer to CLUSTER SLOTS: lists of first slot, last slot, and servers, the master first.
     *
     * @param asked stands in where the cluster does not know a server's host, as the protocol wants it
     */
    static SlotMap read(List<?> answer, Node asked) {
        @Nullable Node[] masters = new @Nullable Node[SLOTS];
        for (Object range : answer) {
            if (range instanceof List<?> parts && parts.size() > 2 && parts.get(2) instanceof List<?> master) {
                Arrays.fill(masters, number(parts.get(0)), number(parts.get(1)) + 1, node(master, asked));
            }
        }
        return new SlotMap(masters);
    }

    /** What {@code MOVED} and {@code ASK} say. */
    record Redirection(int slot, Node target, boolean isAsk) {}

    /** Reads {@code MOVED <slot> <host>:<port>} or {@code ASK …}; null when the text is another one. */
    static @Nullable Redirection redirection(String error, Node asked) {
        String[] words = error.split(" ", -1);
        int colon = words.length < 3 ? -1 : words[2].lastIndexOf(':');
        if (colon < 0 || !(words[0].equals("MOVED") || words[0].equals("ASK"))) {
            return null;
        }
        Node target =
                new Node(host(words[2].substring(0, colon), asked), Integer.parseInt(words[2].substring(colon + 1)));
        return new Redirection(Integer.parseInt(words[1]), target, words[0].equals("ASK"));
    }

    private static Node node(List<?> parts, Node asked) {
        return new Node(host(parts.get(0), asked), number(parts.get(1)));
    }

    private static String host(@Nullable Object told, Node asked) {
        return told instanceof String host && !host.isEmpty() && !host.equals("?") ? host : asked.host();
    }

    private static int number(Object part) {
        return ((Number) part).intValue();
    }

    /** Whether both say the same of every slot. */
    boolean isSameAs(SlotMap other) {
        return Arrays.equals(masters, other.masters);
    }

    @Nullable
    Node masterOf(int slot) {
        return masters[slot];
    }

    boolean isEmpty() {
        return Arrays.stream(masters).noneMatch(node -> node != null);
    }

    /** Each once, in the order of their first slots. */
    List<Node> nodes() {
        Set<Node> all = new LinkedHashSet<>();
        for (Node node : masters) {
            if (node != null) {
                all.add(node);
            }
        }
        return new ArrayList<>(all);
    }
}
