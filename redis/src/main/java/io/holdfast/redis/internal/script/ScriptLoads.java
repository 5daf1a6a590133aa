package io.holdfast.redis.internal.script;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that are on their way to one server in full. One call brings a script, and the other calls that need it
 * wait until the server has it. Otherwise each call under way would bring it to a server that was just promoted. Used
 * within the link's {@code SendQueue} only, unless stated otherwise.
 *
 * <p>A call of another script waits too, behind an earlier one for the same key: a release must not overtake an earlier
 * attempt.
 */
public final class ScriptLoads {

    /** A call of a script that the server may lack. */
    public interface Call {

        LuaScript script();

        /** Returns the key that the call is about: calls for one key keep their order. */
        String key();

        /** Whether a caller still waits for its answer. */
        boolean isWanted();

        /** Returns its place among the calls of this server. */
        long order();

        /** Whether it waits for a connection, to go on then. */
        boolean isUnconnected();

        /** Goes on. Called within the queue. */
        void proceed(boolean bringsScript);
    }

    /** A call that waits, and whether it was to bring its own script. */
    private record Waiting(Call call, boolean bringsScript) {}

    /** The calls of one script. All wait for one of them, which brings it, or finds out whether the server has it by now. */
    private static final class Load {

        private final PriorityQueue<Waiting> waiting =
                new PriorityQueue<>(Comparator.comparingLong(it -> it.call().order()));

        /** The places of the calls that wait, by key. */
        private final Map<String, TreeSet<Long>> places = new HashMap<>();

        private Call carrier;

        /** Whether the carrier goes without the script, and will be sent again if the server lacks it. */
        private boolean asks;

        Load(Call carrier) {
            this.carrier = carrier;
        }

        void add(Call call, boolean bringsScript) {
            waiting.add(new Waiting(call, bringsScript));
            places.computeIfAbsent(call.key(), key -> new TreeSet<>()).add(call.order());
        }

        boolean isBefore(Call call) {
            if (asks && carrier.key().equals(call.key()) && carrier.order() < call.order()) {
                return true;
            }
            TreeSet<Long> same = places.get(call.key());
            return same != null && same.first() < call.order();
        }

        /** Returns the next call with a caller that still waits for the answer. */
        @Nullable
        Waiting next() {
            Waiting next = poll();
            while (next != null && !next.call().isWanted()) {
                next = poll();
            }
            return next;
        }

        private @Nullable Waiting poll() {
            Waiting next = waiting.poll();
            if (next != null) {
                places.computeIfPresent(next.call().key(), (key, same) -> {
                    same.remove(next.call().order());
                    return same.isEmpty() ? null : same;
                });
            }
            return next;
        }
    }

    /** In the order in which they began. */
    private final Map<LuaScript, Load> loads = new LinkedHashMap<>();

    private long lastOrder;

    /** Written within the queue, read by all threads. */
    private volatile boolean isAny;

    /** Whether there is any; from any thread. */
    boolean isAny() {
        return isAny;
    }

    public long nextOrder() {
        return ++lastOrder;
    }

    /** Whether the call may be sent now. Otherwise it goes on later, if a caller still waits for its answer then. */
    public boolean admits(Call call, boolean bringsScript) {
        if (loads.isEmpty() && !bringsScript) {
            return true; // nearly always
        }
        Load before = loadBefore(call);
        if (before != null) {
            before.add(call, bringsScript);
            return false;
        }
        if (bringsScript) {
            Load own = loads.computeIfAbsent(call.script(), script -> new Load(call));
            own.asks = false;
            isAny = true;
        }
        return true;
    }

    /** Returns the load that the call has to wait for: its own script, or an earlier call for its key that waits. */
    private @Nullable Load loadBefore(Call call) {
        Load own = loads.get(call.script());
        if (own != null) {
            return own.carrier == call ? null : own;
        }
        for (Load other : loads.values()) {
            if (other.isBefore(call)) {
                return other;
            }
        }
        return null;
    }

    /** The server has the script. */
    void arrived(LuaScript script) {
        Load load = loads.remove(script);
        isAny = !loads.isEmpty();
        if (load == null) {
            return;
        }
        for (Waiting next = load.next(); next != null; next = load.next()) {
            next.call().proceed(next.bringsScript() && !next.call().script().equals(script));
        }
    }

    /**
     * The call has ended. If the others wait for it, the next one is sent, and they wait for that one.
     *
     * @param bringsScript whether the next call brings the script. If not, it brings it after the server has said that it
     *     lacks the script
     */
    public void ended(LuaScript script, Call call, boolean bringsScript) {
        Load load = loads.get(script);
        if (load == null || load.carrier != call) {
            return;
        }
        load.asks = false;
        Waiting next = load.next();
        while (next != null && !next.call().script().equals(script)) {
            next.call().proceed(next.bringsScript());
            next = load.next();
        }
        if (next != null) {
            load.carrier = next.call();
            load.asks = !bringsScript;
            next.call().proceed(bringsScript);
        } else {
            loads.remove(script);
            isAny = !loads.isEmpty();
        }
    }

    /**
     * There is another connection, or none: a script on its way may be lost. Calls go on in the order in which the
     * loads began. A call that waits for the connection has sent nothing, and keeps its turn.
     */
    void interrupted() {
        List.copyOf(loads.entrySet()).forEach(begun -> {
            Call carrier = begun.getValue().carrier;
            if (!carrier.isUnconnected()) {
                ended(begun.getKey(), carrier, true);
            }
        });
    }

    /**
     * The call got no connection. If the others wait for it, all go on: they wait for a connection together. Otherwise
     * each would try to connect, one after the other.
     */
    void unconnected(LuaScript script, Call call) {
        Load load = loads.get(script);
        if (load == null || load.carrier != call) {
            return;
        }
        loads.remove(script);
        isAny = !loads.isEmpty();
        boolean isFirst = true;
        for (Waiting next = load.next(); next != null; next = load.next()) {
            boolean isSame = next.call().script().equals(script);
            next.call().proceed(isSame ? isFirst : next.bringsScript());
            isFirst &= !isSame;
        }
    }
}
