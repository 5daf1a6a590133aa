package io.holdfast.etcd;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The order of requests of which one at a time may be under way, for each name. A claim whose request is given up before its turn keeps its
 * position for its next request. Not thread-safe.
 */
final class Turns<T> {

    private final Map<String, Turn<T>> turns = new HashMap<>();

    private static final class Turn<T> {
        private @Nullable T current;

        /** By their claims, in their order; null keeps a position. A second request of a claim is its own key. */
        private final Map<Object, @Nullable T> behind = new LinkedHashMap<>();

        @Nullable
        T next() {
            current = null;
            for (Map.Entry<Object, @Nullable T> it : behind.entrySet()) {
                if (it.getValue() != null) {
                    current = it.getValue();
                    behind.remove(it.getKey());
                    break;
                }
            }
            return current;
        }
    }

    int size() {
        return turns.size();
    }

    /** Adds a request; returns it if it has its turn at once. */
    @Nullable
    T add(String name, String claim, T request) {
        Turn<T> turn = turns.computeIfAbsent(name, first -> new Turn<>());
        turn.behind.put(turn.behind.get(claim) == null ? claim : request, request);
        return turn.current == null ? turn.next() : null;
    }

    /** Returns whether the request waits for its turn. */
    boolean waits(String name, String claim, T request) {
        Turn<T> turn = turns.get(name);
        return turn != null && (turn.behind.get(claim) == request || turn.behind.containsKey(request));
    }

    /** The request was answered, or is given up; returns the next one if that has its turn now. */
    @Nullable
    T pass(String name, String claim, T request) {
        Turn<T> turn = turns.get(name);
        if (turn == null) {
            return null;
        }
        if (turn.current != request) {
            turn.behind.remove(request);
            boolean unused = turn.behind.replace(claim, request, null);
            return null;
        }
        T next = turn.next();
        dropIfUnused(name, turn);
        return next;
    }

    /** The claim sends no more requests. */
    void forget(String name, String claim) {
        Turn<T> turn = turns.get(name);
        if (turn != null && turn.behind.remove(claim, null)) {
            dropIfUnused(name, turn);
        }
    }

    private void dropIfUnused(String name, Turn<T> turn) {
        if (turn.current == null && turn.behind.isEmpty()) {
            turns.remove(name);
        }
    }
}
