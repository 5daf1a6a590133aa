package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockClaim;

/**
 * The place of a claim in the line of its lock, as etcd stores it.
 *
 * @param name the name of the lock
 * @param key where it is
 * @param limit the permits of the lock, as the claim states them
 * @param leaseMillis the lease duration that the claim asked for last
 * @param node the client that keeps the place
 * @param created the revision that created the key: the order of the line, and the fencing token
 * @param modified the revision of the last change
 * @param lease the etcd lease that ends the place
 */
record Place(
        String name,
        ByteSequence key,
        String id,
        LockKind kind,
        int permits,
        int limit,
        long leaseMillis,
        String node,
        long created,
        long modified,
        long lease) {

    private static final String FORM = "1";
    private static final int PARTS = 7;

    static Place of(String name, KeyValue stored) {
        String[] parts = stored.getValue().toString(UTF_8).split(" ", PARTS);
        if (parts.length < PARTS || !parts[0].equals(FORM)) {
            throw new OtherFormException(stored);
        }
        try {
            return new Place(
                    name,
                    stored.getKey(),
                    parts[6],
                    LockKind.valueOf(parts[1]),
                    Integer.parseInt(parts[2]),
                    Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]),
                    parts[5],
                    stored.getCreateRevision(),
                    stored.getModRevision(),
                    stored.getLease());
        } catch (IllegalArgumentException unreadable) {
            throw new OtherFormException(stored);
        }
    }

    /** Whether it is a place in the form of this version, as far as its first byte says. */
    static boolean isOurs(KeyValue stored) {
        ByteSequence value = stored.getValue();
        return !value.isEmpty() && value.getBytes()[0] == FORM.charAt(0);
    }

    /** The stored form of a claim's place. */
    static ByteSequence text(LockClaim claim, String node) {
        return text(
                claim.key().kind(),
                claim.permits(),
                claim.key().permits(),
                claim.lease().toMillis(),
                node,
                claim.id());
    }

    ByteSequence text(LockKind as, long leaseMillisNow, String nodeNow) {
        return text(as, permits, limit, leaseMillisNow, nodeNow, id);
    }

    private static ByteSequence text(LockKind kind, int permits, int limit, long leaseMillis, String node, String id) {
        return Layout.bytes(String.join(
                " ",
                FORM,
                kind.name(),
                Integer.toString(permits),
                Integer.toString(limit),
                Long.toString(leaseMillis),
                node,
                id));
    }
}
