package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The connections of a simulated Redis that track changes of keys: {@code CLIENT TRACKING ON OPTIN NOLOOP}. */
final class KeyWatches {

    private final Map<Wire, Consumer<@Nullable String>> listeners = new LinkedHashMap<>();
    private final Map<String, Set<Wire>> watching = new LinkedHashMap<>();
    private final Set<Wire> next = new HashSet<>();

    /** The connection whose script runs now: it gets no message about its own changes. */
    private @Nullable Wire present;

    void admit(Wire wire, Consumer<@Nullable String> told) {
        listeners.put(wire, told);
    }

    void next(Wire wire) {
        next.add(wire);
    }

    /** Runs a script of that connection. */
    Object of(Wire wire, List<String> keys, Supplier<Object> script) {
        if (listeners.isEmpty()) {
            return script.get();
        }
        present = wire;
        try {
            return script.get();
        } finally {
            present = null;
            if (next.remove(wire) && listeners.containsKey(wire)) {
                keys.forEach(key -> watching.computeIfAbsent(key, it -> new LinkedHashSet<>())
                        .add(wire));
            }
        }
    }

    /** After a change, the server forgets all connections that track the key. */
    void changed(String key) {
        Set<Wire> told = watching.isEmpty() ? null : watching.remove(key);
        if (told != null) {
            told.stream().filter(wire -> wire != present).forEach(wire -> tell(wire, key));
        }
    }

    /** All data was replaced or deleted. */
    void flushed() {
        watching.clear();
        new ArrayList<>(listeners.keySet()).forEach(wire -> tell(wire, null));
    }

    private void tell(Wire wire, @Nullable String key) {
        Consumer<@Nullable String> listener = listeners.get(wire);
        if (listener != null) {
            wire.toClient(() -> listener.accept(key));
        }
    }

    void lost(Wire wire) {
        listeners.remove(wire);
        next.remove(wire);
        watching.values().forEach(wires -> wires.remove(wire));
    }

    void forget() {
        listeners.clear();
        watching.clear();
        next.clear();
    }
}
