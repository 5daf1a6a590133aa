package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Register.Write;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryEvent.What;
import java.util.ArrayList;
import java.util.List;

/**
 * The writes that the registers accepted.
 *
 * @param events an event for each write, for the check of their order
 * @param lostUpdates each write whose number does not follow the number before
 * @param late each write that was committed after a later grant
 * @param taken how many writes were accepted
 * @param refused how many reads and writes were refused
 */
record RegisterLog(List<HistoryEvent> events, List<String> lostUpdates, List<String> late, long taken, long refused) {

    static RegisterLog of(Register register, Target target) {
        List<HistoryEvent> events = new ArrayList<>();
        List<String> lost = new ArrayList<>();
        long refused = 0;
        long now = System.nanoTime();
        for (Resource resource : Resource.all(target)) {
            List<Write> writes = resource.isExclusive() ? register.writes(resource) : List.of();
            refused += resource.isExclusive() ? register.refused(resource) : 0;
            long order = 0;
            for (Write write : writes) {
                order++;
                events.add(new HistoryEvent(
                        now, write.process(), write.operation(), What.WRITTEN, null, write.token(), order, ""));
                if (write.number() != order) {
                    lost.add("the next number in the register of %1$s was %2$d, but %4$s wrote %3$d"
                            .formatted(resource, order, write.number(), write));
                }
            }
        }
        List<String> late = Resource.all(target).stream()
                .filter(Resource::isExclusive)
                .flatMap(resource -> register.late(resource).stream())
                .toList();
        return new RegisterLog(events, lost, late, events.size(), refused);
    }
}
