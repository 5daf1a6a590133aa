package io.holdfast.testkit.history;

import io.holdfast.testkit.history.HistoryEvent.What;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The events of several processes with locks, in the order of time. Immutable. */
public final class History {

    private final List<HistoryEvent> events;
    private final List<LockOperation> operations;

    private History(List<HistoryEvent> events) {
        this.events = events;
        this.operations = operations(events);
    }

    /**
     * Sorts the events of all processes by time. Events of the same time keep the given order.
     *
     * @param events the events of any number of processes; those of each process in the order in which it recorded them
     * @return the history
     * @throws IllegalArgumentException if an event belongs to an acquisition that was never requested
     */
    public static History of(Collection<HistoryEvent> events) {
        List<HistoryEvent> sorted = new ArrayList<>(events);
        sorted.sort(Comparator.comparingLong(HistoryEvent::nanos));
        return new History(List.copyOf(sorted));
    }

    /**
     * Reads the lines of several processes. Leaves out a last line that is cut off, as a killed process leaves it.
     *
     * @param processes one text for each process
     * @return the history of all of them
     * @throws IOException if a text cannot be read
     * @throws IllegalArgumentException if another line than the last of a text is not of the form of {@link HistoryEvent#line}
     */
    public static History read(Collection<? extends Reader> processes) throws IOException {
        List<HistoryEvent> all = new ArrayList<>();
        for (Reader process : processes) {
            read(new BufferedReader(process), all);
        }
        return of(all);
    }

    private static void read(BufferedReader process, List<HistoryEvent> all) throws IOException {
        String cut = null;
        for (String line = process.readLine(); line != null; line = process.readLine()) {
            if (cut != null) {
                throw new IllegalArgumentException("not a line of a history: '%s'".formatted(cut));
            }
            Optional<HistoryEvent> event = HistoryEvent.parse(line);
            if (event.isPresent()) {
                all.add(event.get());
            } else {
                cut = line;
            }
        }
    }

    /**
     * Returns all events.
     *
     * @return events in the order of time
     */
    public List<HistoryEvent> events() {
        return events;
    }

    /**
     * Returns all acquisitions with their outcomes.
     *
     * @return acquisitions in the order of their requests
     */
    public List<LockOperation> operations() {
        return operations;
    }

    /**
     * Writes the lines of all processes into one text.
     *
     * @param text receives the lines
     * @throws IOException if it cannot be written
     */
    public void write(Appendable text) throws IOException {
        for (HistoryEvent event : events) {
            text.append(event.line()).append('\n');
        }
    }

    /**
     * Runs checks.
     *
     * @param checks the checks
     * @return all violations, in the order of the checks; empty when there are none
     */
    public List<Violation> violations(HistoryCheck... checks) {
        return Arrays.stream(checks)
                .flatMap(check -> check.violations(this).stream())
                .toList();
    }

    private static List<LockOperation> operations(List<HistoryEvent> events) {
        Map<Identity, LockOperation.Collected> known = new LinkedHashMap<>();
        for (HistoryEvent event : events) {
            if (event.what() == What.ASKED) {
                Identity id = Identity.of(event);
                if (known.put(id, new LockOperation.Collected(event)) != null) {
                    throw new IllegalArgumentException("two acquisitions are number %d of process %s"
                            .formatted(event.operation(), event.process()));
                }
            }
        }
        for (HistoryEvent event : events) {
            if (event.operation() != 0) {
                LockOperation.Collected of = known.get(Identity.of(event));
                if (of == null) {
                    throw new IllegalArgumentException("acquisition %d of process %s was never requested: %s"
                            .formatted(event.operation(), event.process(), event.line()));
                }
                of.add(event);
            }
        }
        return known.values().stream().map(LockOperation.Collected::operation).toList();
    }

    private record Identity(String process, long operation) {

        static Identity of(HistoryEvent event) {
            return new Identity(event.process(), event.operation());
        }
    }
}
