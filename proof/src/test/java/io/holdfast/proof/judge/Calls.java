package io.holdfast.proof.judge;

import static io.holdfast.testkit.history.LockOperation.NEVER;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.LockOperation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The calls of one object in a history, as checkers of linearizability read them. Each call was accepted. */
record Calls(String object, List<List<Call>> threads) {

    /** The methods of {@link FencedLock} and {@link FencedRegister}. */
    enum What {
        ACQUIRE,
        RELEASE,
        WRITE
    }

    /**
     * One call.
     *
     * @param token its argument
     * @param from the time before which it had no effect
     * @param to the time after which it has had its effect
     */
    record Call(What what, long token, long from, long to) {}

    /**
     * Returns the calls of each mutex. A hold is two calls of one thread: an acquisition, from its request to the emission of the lease, and a release,
     * from the end of the belief on. A lease that is adopted is one hold.
     */
    static List<Calls> ofMutexes(History history) {
        Map<String, TreeMap<Long, Call[]>> locks = new TreeMap<>();
        List<LockOperation> owners = history.operations().stream()
                .filter(it -> it.lock().kind() == LockKind.MUTEX && it.hasAcquired())
                .sorted(Comparator.comparingLong(LockOperation::acquiredAt))
                .toList();
        List<Calls> all = new ArrayList<>();
        for (LockOperation owner : owners) {
            TreeMap<Long, Call[]> holds = locks.computeIfAbsent(owner.lock().name(), name -> new TreeMap<>());
            Call acquire = new Call(What.ACQUIRE, owner.token(), owner.askedAt(), owner.acquiredAt());
            Call release = new Call(What.RELEASE, owner.token(), owner.believedUntil(), NEVER);
            Call[] former = owner.isSuccessor() ? holds.get(owner.token()) : null;
            if (former != null) {
                former[1] = release.from > former[1].from ? release : former[1];
            } else if (holds.putIfAbsent(owner.token(), new Call[] {acquire, release}) != null) {
                // Two holds with one token: the second one is refused, since no token comes twice.
                holds.put(Long.MAX_VALUE - holds.size(), new Call[] {acquire, release});
            }
        }
        locks.forEach((name, holds) -> all.add(new Calls(
                "mutex " + name,
                holds.values().stream()
                        .map(List::of)
                        .sorted(Comparator.comparingLong(hold -> hold.get(0).to))
                        .toList())));
        return all;
    }

    /**
     * Returns the writes that each register has taken, at the time of its own counter. Those of one hold are one thread. Refused writes are left out: a
     * reader raises the fence too, and the history has no reads.
     */
    static List<Calls> ofRegisters(History history) {
        Map<String, LockOperation> owners = new HashMap<>();
        history.operations().forEach(it -> owners.put(it.process() + ' ' + it.number(), it));
        Map<String, Map<String, List<Call>>> registers = new TreeMap<>();
        for (HistoryEvent event : history.events()) {
            LockOperation owner = owners.get(event.process() + ' ' + event.operation());
            if (owner == null || event.what() != HistoryEvent.What.WRITTEN) {
                continue;
            }
            List<Call> writes = registers
                    .computeIfAbsent(nameOf(owner.lock()), name -> new TreeMap<>())
                    .computeIfAbsent(event.process() + ' ' + event.operation(), id -> new ArrayList<>());
            writes.add(new Call(What.WRITE, event.token(), event.value(), event.value()));
        }
        return registers.entrySet().stream()
                .map(it -> new Calls(
                        "register " + it.getKey(),
                        it.getValue().values().stream()
                                .sorted(Comparator.comparingLong(writes -> writes.get(0).to))
                                .toList()))
                .toList();
    }

    /** The two sides of a read/write lock guard one register. */
    private static String nameOf(LockKey lock) {
        return (lock.kind() == LockKind.READ ? LockKind.WRITE : lock.kind()) + " " + lock.name();
    }
}
