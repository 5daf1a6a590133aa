package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.PeerChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** Lanes for the same lock in a second JVM, which ends with this JVM at the latest. */
final class SecondProcess implements AutoCloseable {

    private static final long STOP_SECONDS = 70;

    private final Process process;

    private SecondProcess(Process process) {
        this.process = process;
    }

    static SecondProcess start(PeerChoice peer, String lock, int lanes, Path count) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx1g");
        command.addAll(Addresses.given().asArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SecondProcess.class.getName()));
        command.addAll(List.of(peer.fullName(), lock, Integer.toString(lanes), count.toString()));
        try {
            return new SecondProcess(new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("no second process", e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Ends its input, at which it stops. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                Process unused = process.destroyForcibly();
            }
        } catch (IOException e) {
            Process unused = process.destroyForcibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs the second process. */
    public static void main(String[] args) throws IOException {
        List<String> names = Lanes.oneName(args[1], Integer.parseInt(args[2]));
        Count count = Count.in(Path.of(args[3]));
        try (Peer peer = PeerChoice.parse(args[0]).open(Addresses.given());
                Lanes lanes = Lanes.start(peer, names, count, Mono.empty())) {
            while (System.in.read() >= 0) {
                // Waits only for the end of the input.
            }
            Throwable failure = lanes.failure();
            if (failure != null) {
                throw new IllegalStateException("a lane has failed", failure);
            }
        }
    }
}
