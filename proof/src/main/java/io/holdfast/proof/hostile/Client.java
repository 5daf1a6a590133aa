package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.history.HistoryRecorder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * A process that uses locks. It reads orders from its standard input, one word a line. It answers {@value #TIME} with its monotonic time. With
 * {@value #GO} it starts. With {@value #END} it finishes its operations, closes its client, and prints {@value #DONE}. The process of the campaign
 * can run such a client, too, where another process would cost too much.
 */
public final class Client {

    static final String READY = "READY";
    static final String TIME = "TIME";
    static final String GO = "GO";
    static final String END = "END";
    static final String DONE = "DONE";

    /** The limit of waiters for one lock, at back ends that have one: some more claims are refused. */
    private static final int MOST_WAITERS = 8;

    private static final int SAMPLE_MILLIS = 40;
    private static final Duration FINISHES_WITHIN = Duration.ofSeconds(2);
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(10);

    private final ClientOrder order;
    private final Writer journal;
    private final HistoryRecorder recorder;
    private final Register register;
    private final Address.Opened opened;
    private final LockClient locks;
    private final Set<Operation> current = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService sampler = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "sampler");
        thread.setDaemon(true);
        return thread;
    });

    private final Consumer<String> says;

    /** Written by the thread that gives the orders. */
    private volatile boolean goesOn = true;

    /** Written and read by the thread that gives the orders. */
    private Disposable running = () -> {};

    /**
     * Connects, and prints {@value #READY}.
     *
     * @param says receives each line of the answers
     */
    Client(ClientOrder order, Consumer<String> says) throws IOException {
        this.order = order;
        this.says = says;
        journal = Files.newBufferedWriter(order.journal());
        recorder = HistoryRecorder.lines(order.name(), journal);
        register = Register.open(order.register(), order.address().terms());
        opened = order.address().open(MOST_WAITERS);
        locks = LockClient.builder(opened.backend())
                .options(LockOptions.builder()
                        .leaseDuration(order.address().terms().lease())
                        .build())
                .maxWaiters(order.lanes() - 2) // some claims are refused, with any back end
                .build();
        says.accept(READY);
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Client client = new Client(ClientOrder.parse(arguments), Client::print);
        try (BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String word = orders.readLine();
            while (word != null && client.obeys(word)) {
                word = orders.readLine();
            }
        }
        // A driver may leave threads behind. This process has printed everything.
        Runtime.getRuntime().halt(0);
    }

    /** Returns false after the last order. */
    boolean obeys(String word) throws IOException, InterruptedException {
        switch (word) {
            case TIME -> says.accept(TIME + " " + System.nanoTime());
            case GO -> running = start();
            case END -> end();
            default -> throw new IllegalArgumentException("no such order: " + word);
        }
        return !word.equals(END);
    }

    private Disposable start() {
        var unused = sampler.scheduleWithFixedDelay(
                () -> current.forEach(Operation::sample), SAMPLE_MILLIS, SAMPLE_MILLIS, TimeUnit.MILLISECONDS);
        return Flux.range(0, order.lanes())
                .map(number -> new Lane(order, locks, register, recorder, current, number))
                .flatMap(lane -> lane.run(() -> goesOn), order.lanes())
                .subscribe();
    }

    /** Cancels operations that do not end soon. A lease that is held when the client closes is lost, and the history notes that first. */
    private void end() throws IOException, InterruptedException {
        goesOn = false;
        long startNanos = System.nanoTime();
        while (!running.isDisposed() && System.nanoTime() - startNanos < FINISHES_WITHIN.toNanos()) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        running.dispose();
        current.forEach(Operation::leaves);
        var closed = locks.close().toFuture().orTimeout(CLOSES_WITHIN.toSeconds(), TimeUnit.SECONDS);
        String outcome = closed.handle((unused, error) -> error == null ? "" : " " + error)
                .join();
        opened.rest().run();
        register.close();
        journal.close();
        sampler.shutdown();
        says.accept(DONE + outcome);
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
