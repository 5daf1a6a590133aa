package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A transaction of a simulated database. */
final class SqlTransaction {

    private final Set<SqlRows<?>> tables = new LinkedHashSet<>();
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean isOver;

    void uses(SqlRows<?> table) {
        tables.add(table);
    }

    boolean isOver() {
        return isOver;
    }

    /** Runs this after its end. */
    void whenOver(Runnable then) {
        waiting.add(then);
    }

    /** Returns how to undo its changes, the last ones first. */
    Runnable commit() {
        Deque<Runnable> undo = new ArrayDeque<>();
        tables.forEach(it -> undo.push(it.commit(this)));
        end();
        return () -> undo.forEach(Runnable::run);
    }

    void rollBack() {
        if (!isOver) {
            tables.forEach(it -> it.rollBack(this));
            end();
        }
    }

    private void end() {
        isOver = true;
        List.copyOf(waiting).forEach(Runnable::run);
    }
}
