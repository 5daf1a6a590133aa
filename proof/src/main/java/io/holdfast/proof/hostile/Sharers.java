package io.holdfast.proof.hostile;

import io.holdfast.LockKind;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent.What;
import io.holdfast.testkit.history.LockOperation;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds readers of a Redlock that share a token. Readers that sent their attempts at the same time may get the same token: a master that raises a token
 * to that of the majority does not check whether another reader has it. Both readers exclude the same writers. Pure.
 */
final class Sharers {

    private Sharers() {}

    /** Leaves out each reader with the token of another reader that got it earlier, but after the first reader had sent its attempt. */
    static History leftOut(History history) {
        Map<String, LockOperation> firsts = new HashMap<>();
        Set<String> sharers = new HashSet<>();
        List<LockOperation> readers = history.operations().stream()
                .filter(it -> it.hasAcquired() && it.lock().kind() == LockKind.READ)
                .sorted(Comparator.comparingLong(LockOperation::acquiredAt))
                .toList();
        for (LockOperation reader : readers) {
            LockOperation first = firsts.putIfAbsent(reader.lock().name() + " " + reader.token(), reader);
            if (first != null && reader.askedAt() < first.acquiredAt()) {
                boolean unused = sharers.add(id(reader.process(), reader.number()));
            }
        }
        return History.of(history.events().stream()
                .filter(event ->
                        event.what() == What.ASKED || !sharers.contains(id(event.process(), event.operation())))
                .toList());
    }

    private static String id(String process, long operation) {
        return process + "#" + operation;
    }
}
