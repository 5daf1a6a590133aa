package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether a claim holds its lock, and if not, what it waits for.
 *
 * @param holds whether it holds the lock
 * @param blocker the key before it that has to go first; null if there is none, or for a semaphore
 * @param missing for a semaphore: how many permits have to be released before it
 */
record Standing(boolean holds, @Nullable ByteSequence blocker, long missing) {

    /**
     * What one of these roles must know of the places before it.
     *
     * @param created the revision of its place; 0 if it has none yet, or if it is created in the same transaction
     */
    static Op question(Layout layout, LockKey key, LockKind role, long created) {
        GetOption.Builder option = GetOption.builder().isPrefix(true).withSortField(GetOption.SortTarget.CREATE);
        if (created != 0) {
            option = option.withMaxCreateRevision(created - 1);
        }
        return switch (role) {
            case MUTEX, WRITE ->
                Op.get(
                        layout.line(key),
                        option.withSortOrder(GetOption.SortOrder.DESCEND)
                                .withLimit(2)
                                .build());
            case READ ->
                Op.get(
                        layout.marks(key),
                        option.withSortOrder(GetOption.SortOrder.DESCEND)
                                .withLimit(1)
                                .build());
            case SEMAPHORE ->
                Op.get(
                        layout.line(key),
                        option.withSortOrder(GetOption.SortOrder.ASCEND).build());
        };
    }

    /** Reads the answer to the question. Its own place may be in it. */
    static Standing of(
            Layout layout, LockKind role, @Nullable ByteSequence ownPlace, int permits, int limit, GetResponse answer) {
        List<KeyValue> before = answer.getKvs().stream()
                .filter(it -> !it.getKey().equals(ownPlace))
                .toList();
        if (role != LockKind.SEMAPHORE) {
            if (before.isEmpty()) {
                return new Standing(true, null, 0);
            }
            KeyValue blocker = before.get(0);
            boolean isOurs = role == LockKind.READ ? blocker.getValue().isEmpty() : Place.isOurs(blocker);
            if (!isOurs) {
                throw new OtherFormException(blocker);
            }
            return new Standing(false, blocker.getKey(), 0);
        }
        long taken = before.stream().mapToLong(it -> layout.place(it).permits()).sum();
        long missing = taken + permits - limit;
        return new Standing(missing <= 0, null, Math.max(missing, 0));
    }

    /** Reads the answer to the question of a claim that has this place. */
    static Standing of(Layout layout, Place place, GetResponse answer) {
        return of(layout, place.kind(), place.key(), place.permits(), place.limit(), answer);
    }
}
