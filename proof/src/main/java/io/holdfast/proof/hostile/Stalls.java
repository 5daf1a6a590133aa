package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Notes when this process itself stood still. Then the machine stood still, and a missing grant is not the fault of the library. */
final class Stalls implements AutoCloseable {

    private static final Duration TICK = Duration.ofMillis(50);

    /** A shorter standstill is usual on a busy machine. */
    private static final Duration LONG = Duration.ofSeconds(1);

    private final List<Standstill> stalls = new CopyOnWriteArrayList<>();
    private final Thread ticker = new Thread(this::tick, "stalls");

    Stalls() {
        ticker.setDaemon(true);
        ticker.start();
    }

    private void tick() {
        try {
            long before = System.nanoTime();
            while (true) {
                Strike.last(TICK);
                long now = System.nanoTime();
                if (now - before > LONG.toNanos()) {
                    stalls.add(new Standstill(Standstill.ALL, before, now));
                }
                before = now;
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    List<Standstill> seen() {
        return List.copyOf(stalls);
    }

    @Override
    public void close() {
        ticker.interrupt();
    }
}
