package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.testkit.server.Signals;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The faults of the five masters. {@link #close} or the end of this JVM repairs them. */
public final class MasterFaults implements AutoCloseable {

    /** The delays of answers, as in production: two near masters, one further, two far away. */
    private static final List<Duration> DELAYS = List.of(
            Duration.ofMillis(1),
            Duration.ofMillis(2),
            Duration.ofMillis(5),
            Duration.ofMillis(20),
            Duration.ofMillis(100));

    private static final String NOBODY = "redis://127.0.0.1:1";
    private static final int HUNG = 2;

    private final Health health;
    private final Addresses addresses;
    private final List<TcpProxy> proxies = new ArrayList<>();
    private final Thread undo = new Thread(this::resume, "resume-master");

    /** The kinds of faults. */
    public enum Health {
        /** No fault. */
        HEALTHY,
        /** One master hangs, and its connections are open. */
        ONE_HUNG,
        /** Two masters do not run. */
        TWO_DOWN,
        /** The answers of the masters take 1, 2, 5, 20 and 100 ms. */
        DELAYED
    }

    /** Prepares the fault, but does not inject it yet. */
    public MasterFaults(Health health, Addresses addresses) {
        this.health = health;
        this.addresses = addresses;
    }

    /** Returns the addresses of the masters for a client. */
    public List<String> masters() {
        List<String> all = addresses.masters();
        return switch (health) {
            case HEALTHY, ONE_HUNG -> all;
            case TWO_DOWN -> List.of(all.get(0), all.get(1), all.get(2), NOBODY, NOBODY);
            case DELAYED -> {
                List<String> behind = new ArrayList<>();
                for (int i = 0; i < all.size(); i++) {
                    URI uri = URI.create(all.get(i));
                    TcpProxy proxy = TcpProxy.to(uri.getHost(), uri.getPort());
                    proxy.delay(Direction.TO_CLIENT, DELAYS.get(i));
                    proxies.add(proxy);
                    behind.add("redis://%s:%d".formatted(proxy.host(), proxy.port()));
                }
                yield behind;
            }
        };
    }

    /** The client is connected: from now on, the master hangs. */
    public void begin() {
        if (health == Health.ONE_HUNG) {
            Runtime.getRuntime().addShutdownHook(undo);
            Signals.pause(addresses.masterPids().get(HUNG));
        }
    }

    /** Repairs the fault before the client closes, which may still send requests. */
    public void end() {
        if (health == Health.ONE_HUNG) {
            resume();
            boolean unused = Runtime.getRuntime().removeShutdownHook(undo);
        }
    }

    private void resume() {
        Signals.resume(addresses.masterPids().get(HUNG));
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
