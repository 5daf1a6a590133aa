package io.holdfast.proof.hostile;

import io.holdfast.testkit.history.HistoryEvent.What;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * The client processes of a campaign. Each has a place, and each place has its wires. When a process is killed, another process takes its
 * place. A name is a letter for the place and a number for the process.
 */
final class Clients implements AutoCloseable {

    private static final Duration STARTS_WITHIN = Duration.ofMinutes(4);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    /** Longer than the longest wait, and twice the time that a client has to end. */
    private static final Duration ENDS_WITHIN = Duration.ofSeconds(60);

    /** How the clients are started. */
    record Setup(Path folder, long seed, Crew crew, String register, IntFunction<Address> addresses) {}

    private final Setup setup;
    private final int[] generations;

    // Written by the thread that starts, that injects faults into clients, and that ends, one after the other.
    private final List<Child> processes = new ArrayList<>();

    private final List<Insider> insiders = new ArrayList<>();

    private final List<Path> journals = new CopyOnWriteArrayList<>();
    private final List<Standstill> standstills = new CopyOnWriteArrayList<>();

    /**
     * A period in which a process stood still.
     *
     * @param process its name
     * @param fromNanos before it was stopped
     * @param toNanos after it was woken; {@link Long#MAX_VALUE} if it was killed
     */
    record Standstill(String process, long fromNanos, long toNanos) {

        /** Stands for a name: all processes, this one included. */
        static final String ALL = "*";

        boolean concerns(String name) {
            return process.equals(name) || process.equals(ALL);
        }

        boolean isFinal() {
            return toNanos == Long.MAX_VALUE;
        }
    }

    Clients(Setup setup) {
        this.setup = setup;
        generations = new int[setup.crew().places()];
    }

    void start() throws InterruptedException {
        for (int place = 0; place < setup.crew().processes(); place++) {
            processes.add(launch(place));
        }
        for (int place = setup.crew().processes(); place < setup.crew().places(); place++) {
            insiders.add(new Insider(order(place)));
        }
        for (Participant one : all()) {
            greet(one);
        }
        all().forEach(one -> one.tell(Client.GO));
        // Before the first grant, faults would have nothing to break.
        Await.until(
                "a client has a lock",
                STARTS_WITHIN,
                POLL_INTERVAL,
                () -> journals.stream().anyMatch(Clients::tellsOfAGrant));
    }

    private static boolean tellsOfAGrant(Path journal) {
        try (Stream<String> lines = Files.lines(journal)) {
            return lines.anyMatch(line -> line.contains(What.ACQUIRED.name()));
        } catch (IOException | UncheckedIOException notYetThere) {
            return false;
        }
    }

    /** Ends the insiders last: an insider returns from an order only when it has carried it out. */
    private List<Participant> all() {
        List<Participant> all = new ArrayList<>(processes);
        all.addAll(insiders);
        return all;
    }

    private ClientOrder order(int place) {
        String name = (char) ('a' + place) + Integer.toString(++generations[place]);
        Path journal = setup.folder().resolve("history-" + name + ".txt");
        journals.add(journal);
        long seed = setup.seed() * 31 + place * 1_000L + generations[place];
        return new ClientOrder(
                name,
                seed,
                setup.crew().lanes(),
                journal,
                setup.register(),
                setup.addresses().apply(place));
    }

    private Child launch(int place) {
        ClientOrder order = order(place);
        return Child.java(
                order.name(),
                Client.class,
                List.of(),
                order.toArguments(),
                setup.folder().resolve("complaints-" + order.name() + ".txt"));
    }

    /** All times of a campaign are compared, so all processes must have one clock: the answer must lie between two readings of the clock here. */
    private static void greet(Participant process) throws InterruptedException {
        String unused = hear(process, Client.READY);
        long before = System.nanoTime();
        process.tell(Client.TIME);
        long theirs = Long.parseLong(hear(process, Client.TIME).substring(Client.TIME.length() + 1));
        long after = System.nanoTime();
        if (theirs < before || theirs > after) {
            throw new IllegalStateException(
                    "System.nanoTime() of two processes cannot be compared on this machine: %d is not between %d and %d"
                            .formatted(theirs, before, after));
        }
    }

    private static String hear(Participant process, String word) throws InterruptedException {
        String line = process.line(STARTS_WITHIN);
        if (line == null || !line.startsWith(word)) {
            throw new IllegalStateException(
                    "client %s should have said %s, but said %s; see its complaints".formatted(process, word, line));
        }
        return line;
    }

    Map<FaultKind, Strike.Fault> faults() {
        return Map.of(FaultKind.CLIENT_KILLED, this::kill, FaultKind.CLIENT_FROZEN, this::freeze);
    }

    private void kill(Strike strike) throws InterruptedException {
        int place = strike.choice() % setup.crew().processes();
        Child victim = processes.get(place);
        long fromNanos = System.nanoTime();
        victim.close();
        standstills.add(new Standstill(victim.name(), fromNanos, Long.MAX_VALUE));
        Child successor = launch(place);
        processes.set(place, successor);
        greet(successor);
        successor.tell(Client.GO);
        strike.last();
    }

    private void freeze(Strike strike) throws InterruptedException {
        Child victim = strike.oneOf(processes);
        long fromNanos = System.nanoTime();
        victim.freeze();
        try {
            strike.last();
        } finally {
            victim.wake();
            standstills.add(new Standstill(victim.name(), fromNanos, System.nanoTime()));
        }
    }

    /** Lets all clients finish. Returns what went wrong. */
    List<String> end() throws InterruptedException {
        all().forEach(one -> one.tell(Client.END));
        List<String> complaints = new ArrayList<>();
        for (Participant process : all()) {
            String line = process.line(ENDS_WITHIN);
            if (!Client.DONE.equals(line)) {
                complaints.add(
                        "client %s should have ended within %s, but said %s".formatted(process, ENDS_WITHIN, line));
            }
            standstills.add(new Standstill(process.name(), System.nanoTime(), Long.MAX_VALUE));
            process.close();
        }
        return complaints;
    }

    /** Returns the histories, one for each process that ran. */
    List<Path> journals() {
        return List.copyOf(journals);
    }

    List<Standstill> standstills() {
        return List.copyOf(standstills);
    }

    @Override
    public void close() {
        all().forEach(Participant::close);
    }
}
