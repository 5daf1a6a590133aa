package io.holdfast.zookeeper.internal.queue;

import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One claim's node in the queue of a lock. Its name contains all that other clients need, so one list of names is enough to decide which
 * claim holds the lock: {@code <claim id>_<kind><permits>_<session>_<sequence>}. A claim that takes several permits of a semaphore has
 * {@code <permits>-<taken>} in place of the permits. Both numbers are in base 36: the longer the names, the shorter the longest queue.
 *
 * <p>The letter of the kind stands for version 1 of the stored form. A later version begins that part with its number. It keeps the first
 * separator, and the last one with the number from the server. No client of this version passes its nodes.
 *
 * <p>The session is in the name because a node belongs to its claim only in the session that created it. A claim never adopts a node that
 * an earlier session left (CURATOR-604).
 *
 * @param name the node's name
 * @param claimId the claim's id without the label of its owner, encoded
 * @param kind the kind of lock that it wants: from its name, or {@code READ} for a writer that has become a reader
 * @param permits how many permits the semaphore has, by this claim's options
 * @param taken how many of them it takes
 * @param sessionId the session that created it
 * @param sequence the number from the server. It is only the place in the queue: it starts again when the parent node is created again
 */
public record QueueNode(
        String name, String claimId, LockKind kind, int permits, int taken, long sessionId, int sequence) {

    /** The order of a queue: by number. */
    static final Comparator<QueueNode> ORDER =
            Comparator.comparingInt(QueueNode::sequence).thenComparing(QueueNode::name);

    private static final char SEPARATOR = '_';

    /** Separates the permits from how many of them are taken, if that is not one. */
    private static final char OF_THESE = '-';

    private static final int BASE = Character.MAX_RADIX;

    /** The server writes ten digits. */
    private static final int MOST_DIGITS = 10;

    /** Returns the prefix to which the server appends the number. */
    public static String prefix(LockClaim claim, long sessionId) {
        return NodeNames.ofClaim(claim)
                + SEPARATOR
                + letter(claim.key().kind())
                + Integer.toString(claim.key().permits(), BASE)
                + (claim.permits() == 1 ? "" : OF_THESE + Integer.toString(claim.permits(), BASE))
                + SEPARATOR
                + Long.toHexString(sessionId)
                + SEPARATOR;
    }

    /** Returns the name of the claim's node if it is the first one of a new queue. */
    public static String first(LockClaim claim, long sessionId) {
        return prefix(claim, sessionId) + "0".repeat(MOST_DIGITS);
    }

    /** Returns a node of the claim behind all others. It has no name. */
    public static QueueNode newcomer(LockClaim claim) {
        LockKey key = claim.key();
        return new QueueNode("", claim.id(), key.kind(), key.permits(), claim.permits(), 0, Integer.MAX_VALUE);
    }

    /**
     * Returns the node with that name.
     *
     * @return null if another program created it: it is no place in the queue
     */
    public static @Nullable QueueNode parse(String name) {
        int first = name.indexOf(SEPARATOR);
        int second = name.indexOf(SEPARATOR, first + 1);
        int third = name.indexOf(SEPARATOR, second + 1);
        boolean hasFourParts = first > 0 && second > first && third > second && name.indexOf(SEPARATOR, third + 1) < 0;
        if (!hasFourParts || second - first < 3) {
            return null;
        }
        LockKind kind = kind(name.charAt(first + 1));
        if (kind == null) {
            return null;
        }
        try {
            int end = name.lastIndexOf(OF_THESE, second);
            boolean takesMany = end > first;
            int permits = Integer.parseInt(name, first + 2, takesMany ? end : second, BASE);
            int taken = takesMany ? Integer.parseInt(name, end + 1, second, BASE) : 1;
            if (taken < 1 || (takesMany && kind != LockKind.SEMAPHORE)) {
                return null;
            }
            long session = Long.parseUnsignedLong(name, second + 1, third, 16);
            int sequence = Integer.parseInt(name, third + 1, name.length(), 10);
            return new QueueNode(name, name.substring(0, first), kind, permits, taken, session, sequence);
        } catch (NumberFormatException notOurs) {
            return null;
        }
    }

    /**
     * Returns the number at the end of a name without parsing the rest: for the many nodes that do not matter.
     *
     * @return negative if there is no number, or it is past the end; a name with a number may still be no place
     */
    public static int sequenceOf(String name) {
        int end = name.length();
        long number = 0;
        int start = end;
        while (start > 0 && end - start < MOST_DIGITS && isDigit(name.charAt(start - 1))) {
            start--;
        }
        for (int i = start; i < end; i++) {
            number = number * 10 + (name.charAt(i) - '0');
        }
        boolean isNumber = start < end && start > 0 && name.charAt(start - 1) == SEPARATOR;
        return isNumber && number < Integer.MAX_VALUE ? (int) number : -1;
    }

    /**
     * Returns the nodes of a list that have that number or a lower one.
     *
     * @throws NewerFormException if one of them is of a later version
     */
    public static List<QueueNode> parseUpTo(int upTo, Collection<String> names) {
        List<QueueNode> nodes = new ArrayList<>();
        for (String name : names) {
            int sequence = sequenceOf(name);
            boolean isAskedFor = sequence >= 0 && sequence <= upTo;
            QueueNode node = isAskedFor ? parse(name) : null;
            if (node != null) {
                nodes.add(node);
            } else if (isAskedFor && isNewer(name)) {
                throw new NewerFormException(name);
            }
        }
        return nodes;
    }

    private static boolean isNewer(String name) {
        int first = name.indexOf(SEPARATOR);
        return first > 0 && first < name.lastIndexOf(SEPARATOR) && isDigit(name.charAt(first + 1));
    }

    /** Returns the node as that of a writer that has become a reader. Its name and its place stay the same. */
    QueueNode asReader() {
        return new QueueNode(name, claimId, LockKind.READ, permits, taken, sessionId, sequence);
    }

    /** Whether a later node of that kind has to wait for this one, whatever other nodes there are. */
    boolean blocks(LockKind later) {
        return later == LockKind.READ ? kind == LockKind.WRITE : later != LockKind.SEMAPHORE;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Returns the common prefix of all nodes of the claim. No other claim has this prefix. */
    public static String ownPrefix(LockClaim claim) {
        return NodeNames.ofClaim(claim) + SEPARATOR;
    }

    /**
     * Whether the numbers of this queue are used up. The server's counter stays at its greatest value, or continues with negative numbers
     * (DataTree.createNode, 3.9.5). From then on, the numbers do not show which claim came first.
     */
    public boolean isPastTheEnd() {
        return sequence == Integer.MAX_VALUE || sequence < 0;
    }

    public boolean belongsTo(LockClaim claim, long session) {
        return sessionId == session && claimId.equals(NodeNames.ofClaim(claim));
    }

    private static char letter(LockKind kind) {
        return switch (kind) {
            case MUTEX -> 'm';
            case READ -> 'r';
            case WRITE -> 'w';
            case SEMAPHORE -> 's';
        };
    }

    private static @Nullable LockKind kind(char letter) {
        return switch (letter) {
            case 'm' -> LockKind.MUTEX;
            case 'r' -> LockKind.READ;
            case 'w' -> LockKind.WRITE;
            case 's' -> LockKind.SEMAPHORE;
            default -> null;
        };
    }
}
