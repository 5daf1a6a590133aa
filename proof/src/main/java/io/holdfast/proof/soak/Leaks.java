package io.holdfast.proof.soak;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Leaks on purpose, once for each thousand cycles. */
final class Leaks {

    private static final int CYCLES = 1_000;

    /** The size of the payload. With the listener, all object headers and the place in the list, it makes about 100 bytes. */
    private static final int NAME = 36;

    private final Flaw flaw;
    private final List<String> servers;
    private final AtomicLong cycles = new AtomicLong();
    private final List<Object> kept = Collections.synchronizedList(new ArrayList<>());

    Leaks(Flaw flaw, List<String> servers) {
        this.flaw = flaw;
        this.servers = servers;
    }

    /** A forgotten listener with a name of its own. */
    private record Forgotten(String name) implements LockListener {

        @Override
        public void onEvent(LockEvent event) {
            // It reacts to no event.
        }
    }

    void cycle() {
        if (cycles.incrementAndGet() % CYCLES != 0) {
            return;
        }
        switch (flaw) {
            case NONE -> {}
            case LEAK_LISTENER -> kept.add(new Forgotten("x".repeat(NAME)));
            case LEAK_CONNECTION -> connect();
        }
    }

    private void connect() {
        String server = servers.get(0);
        int port =
                URI.create(server.contains("//") ? server : "tcp://" + server).getPort();
        try {
            kept.add(new Socket(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            // The server is unreachable for a moment; the next connection will leak.
        }
    }
}
