package io.holdfast.zookeeper.internal.claim;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Records which claims wait for a change of which node. Not thread-safe. */
final class WatchedNodes {

    /** Keeps the claims in the order of arrival, so that a simulation can repeat a run. */
    private final Map<String, Set<ClaimState>> waiting = new HashMap<>();

    /** The claim waits for that node from now on, and for no other one. */
    void expect(String path, ClaimState state) {
        expectNothing(state);
        state.waitFor(path);
        waiting.computeIfAbsent(path, it -> new LinkedHashSet<>(1)).add(state);
    }

    void expectNothing(ClaimState state) {
        String path = state.waitsFor();
        if (path != null) {
            state.waitFor(null);
            waiting.computeIfPresent(path, (it, states) -> {
                states.remove(state);
                return states.isEmpty() ? null : states;
            });
        }
    }

    /** The node changed. Returns the claims that waited for it; they do not wait for a node any more. */
    List<ClaimState> take(String path) {
        List<ClaimState> states = List.copyOf(waiting.getOrDefault(path, Set.of()));
        states.forEach(this::expectNothing);
        return states;
    }

    int count() {
        return waiting.size();
    }
}
