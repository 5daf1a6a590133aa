package io.holdfast.proof.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client in the process of the campaign itself: no fault kills or freezes it, and it needs no process of its own. */
final class Insider implements Participant {

    private final String name;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Client client;

    // Written and read by the thread of the campaign.
    private boolean hasEnded;

    Insider(ClientOrder order) {
        name = order.name();
        try {
            client = new Client(order, lines::add);
        } catch (IOException e) {
            throw new UncheckedIOException(name + " cannot be started", e);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void tell(String word) {
        try {
            hasEnded = !client.obeys(word);
        } catch (IOException e) {
            throw new UncheckedIOException(name + " could not " + word, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted when %s was to %s".formatted(name, word), e);
        }
    }

    @Override
    public @Nullable String line(Duration within) throws InterruptedException {
        return lines.poll(within.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        if (!hasEnded) {
            tell(Client.END);
        }
    }

    @Override
    public String toString() {
        return name + " (inside)";
    }
}
