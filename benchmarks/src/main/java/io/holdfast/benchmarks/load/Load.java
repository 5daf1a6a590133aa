package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.PeerChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A client with its lanes, in this process and perhaps in a second one. {@link #await} measures it. */
public final class Load implements AutoCloseable {

    private static final String CONTENDED = "contended";
    private static final int WARM_UP_LANES = 64;
    private static final Duration WARM_UP = Duration.ofSeconds(3);

    private final Peer peer;
    private final Count cycles;
    private final Lanes lanes;
    private final @Nullable SecondProcess second;
    private final Progress progress;

    private Load(Peer peer, Count cycles, List<String> names, @Nullable SecondProcess second) {
        this.peer = peer;
        this.cycles = cycles;
        this.second = second;
        lanes = Lanes.start(peer, names, cycles, Mono.empty());
        progress = new Progress(cycles::value, this::failure);
    }

    /**
     * Makes a load of uncontended locks, all in flight at once.
     *
     * @param peer the peer, which this load closes
     */
    public static Load distinct(Peer peer, int locks) {
        return new Load(peer, Count.here(), names("lock-", locks), null);
    }

    /**
     * As {@link #distinct}; before that, cycles of many other locks, so that the code is compiled: few locks at a time would take minutes
     * for that.
     *
     * @param peer the peer, which this load closes
     */
    public static Load distinctWarm(Peer peer, int locks) {
        if (locks < WARM_UP_LANES) {
            warmUp(peer);
        }
        return distinct(peer, locks);
    }

    private static void warmUp(Peer peer) {
        try (Lanes lanes = Lanes.start(peer, names("warm-up-", WARM_UP_LANES), Count.here(), Mono.empty())) {
            LockSupport.parkNanos(WARM_UP.toNanos());
            Throwable failure = lanes.failure();
            if (failure != null) {
                throw new IllegalStateException("a lane has failed", failure);
            }
        }
    }

    private static List<String> names(String prefix, int locks) {
        return IntStream.range(0, locks).mapToObj(number -> prefix + number).toList();
    }

    /** Makes a load of one contended lock, with all lanes in one process or half of them in each of two. */
    public static Load contended(PeerChoice choice, int waiters, int processes) {
        if (processes == 1) {
            List<String> names = Lanes.oneName(CONTENDED, waiters);
            return new Load(choice.open(Addresses.given()), Count.here(), names, null);
        }
        Path shared = newFile();
        SecondProcess second = SecondProcess.start(choice, CONTENDED, waiters / 2, shared);
        List<String> names = Lanes.oneName(CONTENDED, waiters - waiters / 2);
        return new Load(choice.open(Addresses.given()), Count.in(shared), names, second);
    }

    private static Path newFile() {
        try {
            Path file = Files.createTempFile("holdfast-benchmark", ".count");
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException("no file for a counter", e);
        }
    }

    /** Forgets all earlier cycles. */
    public void restart() {
        progress.restart();
    }

    /**
     * Waits until the given number of further cycles have ended, in either process.
     *
     * @throws IllegalStateException if a lane has failed, or no cycle ended for a minute
     */
    public void await(long more) {
        progress.await(more);
    }

    private @Nullable Throwable failure() {
        if (second != null && !second.isAlive()) {
            return new IllegalStateException("the second process has ended after %d cycles".formatted(cycles.value()));
        }
        return lanes.failure();
    }

    @Override
    public void close() {
        if (second != null) {
            second.close();
        }
        lanes.close();
        peer.close();
    }
}
