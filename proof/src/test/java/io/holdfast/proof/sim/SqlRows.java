package io.holdfast.proof.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One table. A transaction sees what was committed before its present step, and its own changes. It owns each row that it changes or locks until
 * it ends. A fenced transaction shares a row.
 */
final class SqlRows<V extends SqlRows.Row<V>> {

    /** A row. Transactions change copies. */
    interface Row<V> {
        String key();

        V copy();
    }

    /** The step must run again after the end of that transaction. It has changed nothing so far. */
    static final class Waits extends RuntimeException {

        private static final long serialVersionUID = 1L;

        final transient SqlTransaction until;

        Waits(SqlTransaction until) {
            super("waits for a row", null, false, false);
            this.until = until;
        }
    }

    private final NavigableMap<String, V> committed = new TreeMap<>();
    private final Map<SqlTransaction, NavigableMap<String, @Nullable V>> changes = new HashMap<>();
    private final Map<String, SqlTransaction> owners = new HashMap<>();

    /** Rows whose owner has locked them {@code FOR UPDATE}. */
    private final Set<String> exclusive = new HashSet<>();

    private final Map<String, Set<SqlTransaction>> fences = new HashMap<>();

    @Nullable
    V get(SqlTransaction by, String key) {
        NavigableMap<String, @Nullable V> own = changes.get(by);
        return own != null && own.containsKey(key) ? own.get(key) : committed.get(key);
    }

    /** Returns all rows whose keys begin like this, in their order. */
    List<V> of(SqlTransaction by, String beginning) {
        NavigableMap<String, V> seen = new TreeMap<>(committed.subMap(beginning, true, beginning + '\uffff', true));
        NavigableMap<String, @Nullable V> own = changes.get(by);
        if (own != null) {
            own.subMap(beginning, true, beginning + '\uffff', true).forEach((key, row) -> {
                if (row == null) {
                    seen.remove(key);
                } else {
                    seen.put(key, row);
                }
            });
        }
        return new ArrayList<>(seen.values());
    }

    List<V> committed() {
        return new ArrayList<>(committed.values());
    }

    /** Returns the other transaction that owns the row; null without one. */
    @Nullable
    SqlTransaction other(SqlTransaction by, String key) {
        SqlTransaction owner = owners.get(key);
        return owner == by ? null : owner;
    }

    /** Returns whether another transaction shares the row. */
    boolean isFenced(SqlTransaction by, String key) {
        return fences.getOrDefault(key, Set.of()).stream().anyMatch(it -> it != by);
    }

    /** Locks a row that no other transaction owns. */
    void lock(SqlTransaction by, String key, boolean isForUpdate) {
        if (other(by, key) != null) {
            throw new IllegalStateException("two transactions write the row " + key);
        }
        by.uses(this);
        owners.put(key, by);
        if (isForUpdate) {
            exclusive.add(key);
        }
    }

    /** Locks a row {@code FOR KEY SHARE}. */
    void share(SqlTransaction by, String key) {
        SqlTransaction owner = other(by, key);
        if (owner != null && exclusive.contains(key)) {
            throw new Waits(owner);
        }
        by.uses(this);
        fences.computeIfAbsent(key, it -> new HashSet<>()).add(by);
    }

    /** Returns the row for changes. */
    V edit(SqlTransaction by, V row) {
        V present = changes.getOrDefault(by, new TreeMap<>()).get(row.key());
        if (present != null) {
            return present;
        }
        V copy = row.copy();
        put(by, copy);
        return copy;
    }

    void put(SqlTransaction by, V row) {
        lock(by, row.key(), false);
        changes.computeIfAbsent(by, it -> new TreeMap<>()).put(row.key(), row);
    }

    void remove(SqlTransaction by, V row) {
        lock(by, row.key(), true);
        changes.computeIfAbsent(by, it -> new TreeMap<>()).put(row.key(), null);
    }

    /** Makes the changes visible. Returns how to undo them, as a crash does before they are on the disk. */
    Runnable commit(SqlTransaction by) {
        NavigableMap<String, @Nullable V> before = new TreeMap<>();
        Map<String, @Nullable V> own = changes.getOrDefault(by, new TreeMap<>());
        own.forEach((key, row) -> {
            before.put(key, committed.get(key));
            set(key, row);
        });
        rollBack(by);
        return () -> before.forEach(this::set);
    }

    private void set(String key, @Nullable V row) {
        if (row == null) {
            committed.remove(key);
        } else {
            committed.put(key, row);
        }
    }

    void rollBack(SqlTransaction by) {
        changes.remove(by);
        owners.values().removeIf(it -> it == by);
        exclusive.retainAll(owners.keySet());
        fences.values().forEach(it -> it.remove(by));
    }

    void clear() {
        committed.clear();
    }
}
