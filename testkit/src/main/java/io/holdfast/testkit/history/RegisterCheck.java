package io.holdfast.testkit.history;

import io.holdfast.testkit.history.HistoryEvent.What;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks a register that is fenced by the tokens of a lock: it takes writes only in the order of the tokens, and no
 * writes of two owners under one token. Each lock guards one register. Writes with an unknown outcome count as neither
 * taken nor refused.
 */
public final class RegisterCheck implements HistoryCheck {

    /** Makes the check; it has no state. */
    public RegisterCheck() {}

    @Override
    public List<Violation> violations(History history) {
        Map<String, Map<Long, String>> lockOf = new HashMap<>();
        history.operations()
                .forEach(operation -> lockOf.computeIfAbsent(operation.process(), process -> new HashMap<>())
                        .put(operation.number(), operation.lockId()));
        Map<String, List<HistoryEvent>> registers = new HashMap<>();
        for (HistoryEvent event : history.events()) {
            if (event.what() == What.WRITTEN) {
                String lock = lockOf.getOrDefault(event.process(), Map.of()).getOrDefault(event.operation(), "");
                registers.computeIfAbsent(lock, id -> new ArrayList<>()).add(event);
            }
        }
        List<Violation> found = new ArrayList<>();
        registers.forEach((lock, writes) -> compare(lock, writes, found));
        return found;
    }

    private static void compare(String lock, List<HistoryEvent> writes, List<Violation> found) {
        writes.sort(Comparator.comparingLong(HistoryEvent::value));
        for (int i = 1; i < writes.size(); i++) {
            HistoryEvent before = writes.get(i - 1);
            HistoryEvent write = writes.get(i);
            boolean isOther =
                    before.operation() != write.operation() || !before.process().equals(write.process());
            if (write.token() < before.token() || (write.token() == before.token() && isOther)) {
                found.add(new Violation(
                        "register",
                        "the register of %s took a write out of order:%n  %s%n  %s"
                                .formatted(lock, before.line(), write.line())));
            }
        }
    }
}
