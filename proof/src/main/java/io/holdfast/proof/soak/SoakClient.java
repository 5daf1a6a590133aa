package io.holdfast.proof.soak;

import io.holdfast.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reactor.core.Disposable;

/**
 * The process that uses locks. It reads orders from its standard input, one word a line. With {@value #GO} it starts. It answers {@value #SAMPLE}
 * with the figures of {@link Inside}. With {@value #END} it ends its work, closes its clients, and prints {@value #DONE}.
 */
public final class SoakClient {

    static final String READY = "READY";
    static final String GO = "GO";
    static final String SAMPLE = "SAMPLE";
    static final String END = "END";
    static final String DONE = "DONE";

    private static final int CLIENTS = 2;
    private static final Duration RESTS_WITHIN = Duration.ofSeconds(1);
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(15);

    private final List<Opened> opened;
    private final Mix mix;
    private final Inside inside;

    /** Written and read by the thread that carries out the orders. */
    private Disposable running = () -> {};

    private SoakClient(SoakOrder order) {
        List<Opened> plain = Stream.generate(() -> Opened.open(order.target(), order.servers(), false))
                .limit(CLIENTS)
                .toList();
        Opened handsOver = Opened.open(order.target(), order.servers(), true);
        opened = Stream.concat(plain.stream(), Stream.of(handsOver)).toList();
        Tally tally = new Tally();
        Leaks leaks = new Leaks(order.flaw(), order.servers());
        List<LockClient> clients = plain.stream().map(Opened::locks).toList();
        mix = new Mix(order, tally, leaks, clients, handsOver.locks());
        inside = new Inside(tally, opened.stream().map(Opened::locks).toList());
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        SoakClient client = new SoakClient(SoakOrder.parse(arguments));
        print(READY);
        try (BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String word = orders.readLine();
            while (word != null && client.obeys(word)) {
                word = orders.readLine();
            }
        }
        // Threads that a driver has left behind do not keep this process alive.
        Runtime.getRuntime().halt(0);
    }

    /** Returns false after the last order. */
    private boolean obeys(String word) throws InterruptedException {
        switch (word) {
            case GO -> running = mix.start();
            case SAMPLE -> print(SAMPLE + " " + inspect());
            case END -> print(DONE + end());
            default -> throw new IllegalArgumentException("no such order: " + word);
        }
        return !word.equals(END);
    }

    private String inspect() throws InterruptedException {
        mix.rest(RESTS_WITHIN);
        try {
            return inside.inspect();
        } finally {
            mix.goOn();
        }
    }

    /** Returns the clients that did not close. */
    private String end() {
        running.dispose();
        return opened.stream()
                .map(one -> one.close()
                        .toFuture()
                        .orTimeout(CLOSES_WITHIN.toSeconds(), TimeUnit.SECONDS)
                        .handle((unused, error) -> error == null ? "" : " " + error)
                        .join())
                .collect(Collectors.joining());
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
