package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.PeerChoice;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A JVM with one client, which stays while other clients take their turns. {@link WorkerProcess} sends it one command a line, and the worker
 * answers each command with one line. It ends with its input.
 */
final class Worker implements AutoCloseable {

    static final String START = "start";
    static final String READ = "read";
    static final String STOP = "stop";

    /** The beginning of each answer: a library may print lines of its own. */
    static final String ANSWER = "[worker] ";

    static final String FAILED = "failed: ";

    private final Peer peer;
    private final boolean isOneLock;
    private final String prefix;
    private final Count cycles = Count.here();
    private final Waits waits = new Waits();
    private @Nullable Lanes lanes;

    private Worker(Peer peer, boolean isOneLock, String prefix) {
        this.peer = peer;
        this.isOneLock = isOneLock;
        this.prefix = prefix;
    }

    /** Runs a worker. The arguments are the peer, whether all lanes use one lock, and the prefix of the names of its locks. */
    public static void main(String[] args) {
        PrintStream out = System.out;
        try (Worker worker = new Worker(
                        PeerChoice.parse(args[0]).open(Addresses.given()), Boolean.parseBoolean(args[1]), args[2]);
                BufferedReader commands =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            out.println(ANSWER);
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                out.println(ANSWER + worker.answer(line));
            }
        } catch (IOException | RuntimeException e) {
            out.println(ANSWER + FAILED + e);
        }
        // Does not wait for threads that a peer has left behind.
        System.exit(0);
    }

    private String answer(String command) {
        try {
            if (command.startsWith(START)) {
                start(Integer.parseInt(command.substring(START.length()).strip()));
                return "";
            }
            requireNoFailure();
            if (command.equals(READ)) {
                return Reading.now(cycles.value(), waits.take()).toText();
            }
            stop();
            return "";
        } catch (RuntimeException e) {
            return FAILED + e;
        }
    }

    private void start(int count) {
        List<String> names = isOneLock
                ? Lanes.oneName(prefix, count)
                : IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
        lanes = Lanes.start(peer, names, cycles, waits, Mono.empty());
    }

    private void requireNoFailure() {
        Throwable failure = lanes == null ? null : lanes.failure();
        if (failure != null) {
            throw new IllegalStateException("a lane has failed: " + failure, failure);
        }
    }

    private void stop() {
        if (lanes != null) {
            lanes.close();
            lanes = null;
        }
    }

    @Override
    public void close() {
        stop();
        peer.close();
    }
}
