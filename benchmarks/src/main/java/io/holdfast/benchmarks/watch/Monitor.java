package io.holdfast.benchmarks.watch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts commands as the server sees them, by its own {@code MONITOR}. Unlike {@code INFO commandstats}, it distinguishes a command on the wire from a
 * call inside a script. The monitored server is slower, so no other measurement runs meanwhile.
 */
public final class Monitor implements AutoCloseable {

    private static final int READ_LIMIT_MILLIS = 10_000;
    private static final String END = "end-of-monitoring";

    private final Socket monitor;
    private final BufferedReader lines;
    private final URI address;

    private Monitor(Socket monitor, URI address) throws IOException {
        this.monitor = monitor;
        this.address = address;
        monitor.setSoTimeout(READ_LIMIT_MILLIS);
        lines = new BufferedReader(new InputStreamReader(monitor.getInputStream(), StandardCharsets.ISO_8859_1));
        send(monitor, "MONITOR");
        String answer = lines.readLine();
        if (!"+OK".equals(answer)) {
            throw new IllegalStateException("MONITOR was answered with " + answer);
        }
    }

    /**
     * The counted commands.
     *
     * @param onTheWire how often each command came from a client, by its name in lower case
     * @param inScripts how many calls scripts made
     */
    public record Seen(Map<String, Integer> onTheWire, int inScripts) {

        /** Returns the number of commands from clients. */
        public int total() {
            return onTheWire.values().stream().mapToInt(it -> it).sum();
        }
    }

    /** Starts counting. */
    public static Monitor of(String uri) {
        URI address = URI.create(uri);
        try {
            return new Monitor(new Socket(address.getHost(), address.getPort()), address);
        } catch (IOException e) {
            throw new UncheckedIOException("no server at " + uri, e);
        }
    }

    /** Stops counting. The counts include all commands that the server has answered by now. */
    public Seen stop() {
        try (Socket last = new Socket(address.getHost(), address.getPort())) {
            send(last, "ECHO " + END);
            Map<String, Integer> onTheWire = new TreeMap<>();
            int inScripts = 0;
            for (String line = lines.readLine(); line != null && !line.contains(END); line = lines.readLine()) {
                if (line.contains(" lua] ")) {
                    inScripts++;
                } else {
                    int unused = onTheWire.merge(MonitorLine.command(line), 1, Integer::sum);
                }
            }
            return new Seen(onTheWire, inScripts);
        } catch (IOException e) {
            throw new UncheckedIOException("the server stopped telling", e);
        }
    }

    private static void send(Socket socket, String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() {
        try {
            monitor.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close the monitor", e);
        }
    }
}
