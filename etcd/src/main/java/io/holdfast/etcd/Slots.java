package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.holdfast.spi.LockKey;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The keys of this client in the lines of locks. One claim at a time has a key, and a later one gets it again. With a key for each claim, lines
 * would get slower and slower: until a compaction, etcd passes over each key that ever was when it reads a line.
 */
final class Slots {

    private final Layout layout;

    /** Guarded by this object. */
    private final Map<ByteSequence, OfLine> lines = new HashMap<>();

    /**
     * One key.
     *
     * @param key of the place of its claim
     */
    record Slot(ByteSequence line, int number, ByteSequence key) {}

    private static final class OfLine {
        private final BitSet taken = new BitSet();
        private int users;
    }

    Slots(Layout layout) {
        this.layout = layout;
    }

    /** {@return one that no claim of this client has} */
    Slot take(LockKey key) {
        ByteSequence line = layout.line(key);
        int number = take(line);
        return new Slot(line, number, line.concat(Layout.bytes(layout.node() + '.' + number)));
    }

    private synchronized int take(ByteSequence line) {
        OfLine slots = lines.computeIfAbsent(line, first -> new OfLine());
        slots.users++;
        int free = slots.taken.nextClearBit(0);
        slots.taken.set(free);
        return free;
    }

    /** Whether other claims of this client are in this line, or about to enter it. */
    synchronized boolean isShared(Slot slot) {
        OfLine slots = lines.get(slot.line());
        return slots != null && slots.users > 1;
    }

    /** Its claim has ended. */
    synchronized void free(Slot slot) {
        OfLine slots = lines.get(slot.line());
        if (slots != null && slots.taken.get(slot.number())) {
            slots.taken.clear(slot.number());
            leave(slot, slots);
        }
    }

    /**
     * The place of a former claim is there, since another client keeps it. No claim gets this slot, as long as this client has other claims in this
     * line.
     */
    synchronized void avoid(Slot slot) {
        OfLine slots = lines.get(slot.line());
        if (slots != null) {
            leave(slot, slots);
        }
    }

    private void leave(Slot slot, OfLine slots) {
        slots.users--;
        if (slots.users == 0) {
            lines.remove(slot.line());
        }
    }
}
