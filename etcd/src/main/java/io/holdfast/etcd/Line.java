package io.holdfast.etcd;

import io.holdfast.LockKind;
import java.util.ArrayList;
import java.util.List;

/**
 * The places of one lock, in the order of their creation. Which of them hold the lock follows from this order alone. Only places before a
 * claim count, and new ones come behind it. So a claim that holds the lock holds it until its place is deleted.
 */
record Line(List<Place> places) {

    List<Place> holders() {
        List<Place> holders = new ArrayList<>();
        long permits = 0;
        boolean isBehindAWriter = false;
        for (int i = 0; i < places.size(); i++) {
            Place it = places.get(i);
            boolean holds = switch (it.kind()) {
                case MUTEX, WRITE -> i == 0;
                case READ -> !isBehindAWriter;
                case SEMAPHORE -> permits + it.permits() <= it.limit();
            };
            if (holds) {
                holders.add(it);
            }
            permits += it.permits();
            isBehindAWriter |= it.kind() == LockKind.WRITE;
        }
        return holders;
    }

    List<Place> waiters() {
        List<Place> holders = holders();
        return places.stream().filter(it -> !holders.contains(it)).toList();
    }
}
