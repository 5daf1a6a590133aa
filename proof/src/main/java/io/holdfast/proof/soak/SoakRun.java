package io.holdfast.proof.soak;

import io.holdfast.proof.hostile.Child;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Starts the servers and the client process of one back end, samples them for the given time, and ends them. */
final class SoakRun {

    private static final Duration STARTS_WITHIN = Duration.ofMinutes(4);
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(60);
    private static final Duration ENDS_WITHIN = Duration.ofSeconds(90);
    private static final int MOST_SAMPLES = 2_000;
    private static final Duration SHORTEST_INTERVAL = Duration.ofSeconds(3);

    /** The number of samples between two cuts of the connections. */
    private static final int BETWEEN_CUTS = 10;

    /**
     * The settings of a soak.
     *
     * @param target the back end
     * @param time how long
     * @param rate cycles per second
     * @param flaw the leak on purpose
     * @param folder the existing folder for the samples
     */
    record Order(Target target, Duration time, int rate, Flaw flaw, Path folder) {

        Path samples() {
            return folder.resolve("samples.csv");
        }
    }

    private final Order order;
    private final List<Sample> samples = new ArrayList<>();

    SoakRun(Order order) {
        this.order = order;
    }

    /** Returns the interval between two samples. It grows with the time of the soak, so that there are not too many samples. */
    static Duration interval(Duration time) {
        Duration even = time.dividedBy(MOST_SAMPLES);
        return even.compareTo(SHORTEST_INTERVAL) < 0 ? SHORTEST_INTERVAL : even;
    }

    /** Returns the samples. It also writes each sample to the file at once. */
    List<Sample> run() throws IOException, InterruptedException {
        try (Store store = Store.start(order.target(), order.folder());
                Child client = launch(store);
                PrintWriter table = new PrintWriter(Files.newBufferedWriter(order.samples()), true)) {
            String unused = hear(client, SoakClient.READY, STARTS_WITHIN);
            client.tell(SoakClient.GO);
            table.println(Sample.HEADER);
            sample(store, client, table);
            client.tell(SoakClient.END);
            String done = hear(client, SoakClient.DONE, ENDS_WITHIN);
            if (!done.equals(SoakClient.DONE)) {
                throw new IllegalStateException("the client process did not close cleanly: " + done);
            }
            return samples;
        }
    }

    private Child launch(Store store) {
        String name = order.target().word();
        SoakOrder told = new SoakOrder(name, order.target(), order.rate(), order.flaw(), store.addresses());
        return Child.java(
                "soak-client",
                SoakClient.class,
                // The JVM keeps no softly reachable objects: they would look like growth.
                List.of("-XX:SoftRefLRUPolicyMSPerMB=0"),
                told.toArguments(),
                order.folder().resolve("complaints.txt"));
    }

    private void sample(Store store, Child client, PrintWriter table) throws InterruptedException {
        Processes processes = new Processes(client.pid());
        List<Processes.Reading> unused = processes.readAll();
        long startNanos = System.nanoTime();
        long intervalNanos = interval(order.time()).toNanos();
        long count = Math.max(1, order.time().toNanos() / intervalNanos);
        long lastNanos = startNanos;
        for (long i = 1; i <= count; i++) {
            TimeUnit.NANOSECONDS.sleep(startNanos + i * intervalNanos - System.nanoTime());
            client.tell(SoakClient.SAMPLE);
            String inside = hear(client, SoakClient.SAMPLE, ANSWERS_WITHIN);
            long nowNanos = System.nanoTime();
            store.tidy();
            Sample sample =
                    sample(inside, processes.readAll(), store.read(), nowNanos - lastNanos, nowNanos - startNanos);
            lastNanos = nowNanos;
            samples.add(sample);
            table.println(sample.line());
            if (i % BETWEEN_CUTS == 0) {
                store.cut();
            }
        }
    }

    private static Sample sample(
            String inside, List<Processes.Reading> outside, Store.Reading store, long intervalNanos, long timeNanos) {
        Map<Column, Double> figures = new EnumMap<>(Inside.parse(inside.substring(SoakClient.SAMPLE.length() + 1)));
        double seconds = intervalNanos / 1e9;
        Double unused = figures.computeIfPresent(Column.CYCLES, (column, cycles) -> cycles / seconds);
        figures.put(Column.SECONDS, timeNanos / 1e9);
        Processes.Reading client = outside.get(0);
        Processes.Reading servers = outside.get(1);
        figures.put(Column.CLIENT_FILES, (double) client.files());
        figures.put(Column.CLIENT_MEMORY, (double) client.memory());
        figures.put(Column.CLIENT_CPU, client.cpu().toNanos() / 1e9 / seconds);
        figures.put(Column.SERVER_FILES, (double) servers.files());
        figures.put(Column.SERVER_MEMORY, (double) servers.memory());
        figures.put(Column.SERVER_CPU, servers.cpu().toNanos() / 1e9 / seconds);
        figures.put(Column.KEYS, (double) store.keys());
        figures.put(Column.STORE_BYTES, (double) store.bytes());
        figures.put(Column.CONNECTIONS, (double) store.connections());
        return new Sample(figures);
    }

    private static String hear(Child client, String word, Duration within) throws InterruptedException {
        String line = client.line(within);
        if (line == null || !line.startsWith(word)) {
            throw new IllegalStateException(
                    "the client process should have said %s within %s, but said %s; see its complaints"
                            .formatted(word, within, line));
        }
        return line;
    }
}
