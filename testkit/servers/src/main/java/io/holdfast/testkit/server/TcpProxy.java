package io.holdfast.testkit.server;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Stands in front of a server, whatever its protocol, and spoils the connections that go through it: at an address of its own on the
 * loopback interface, with two daemon threads for each connection and one that accepts them. It ends with {@link #close}.
 *
 * <p>Each direction is in one of three states: bytes pass (the default), pass after a delay, or are dropped without a word. What is
 * dropped is lost for good: a connection that lost a byte, or the end of one side, stays silent in that direction from then on, as behind
 * a firewall that has forgotten it, and its other end is not told that this one went away. New connections are not concerned.
 *
 * <p>When the server cannot be reached, a new connection is accepted and reset. Thread-safe; only {@link #accept}, {@link #refuse}
 * and {@link #close} may wait.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.inFrontOf(redis)) {
 *     RedisURI uri = RedisURI.create(proxy.host(), proxy.port());
 *     proxy.cutAfter(TcpProxy.Direction.TO_CLIENT, 0); // the next command is carried out, and its answer is lost
 * }
 * }</pre>
 */
public final class TcpProxy implements AutoCloseable {

    /** Where bytes go. */
    public enum Direction {
        /** From the client to the server. */
        TO_SERVER,
        /** From the server to the client. */
        TO_CLIENT
    }

    /** More than that at once is a mistake of the test; further ones are reset. */
    private static final int MOST_CONNECTIONS = 1_000;

    /** Another process may have the port for a moment. */
    private static final Duration BIND_LIMIT = Duration.ofSeconds(10);

    private final InetSocketAddress server;
    private final Map<Direction, TcpValve> valves = new EnumMap<>(Direction.class);
    private final Set<TcpPair> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong accepted = new AtomicLong();
    private final int port;

    /** Guarded by this; null while connections are refused. */
    private @Nullable Listening listening;

    /** Written by close. */
    private volatile boolean isClosed;

    /** A port, and who accepts there. */
    private record Listening(ServerSocket socket, Thread acceptor) {}

    private TcpProxy(InetSocketAddress server) {
        this.server = server;
        for (Direction direction : Direction.values()) {
            valves.put(direction, new TcpValve());
        }
        ServerSocket first = bound(0);
        port = first.getLocalPort();
        listen(first);
    }

    /**
     * Starts in front of a server that need not be there yet.
     *
     * @param host of the server
     * @param port of the server
     * @return a proxy that lets everything pass
     */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(requireNonNull(host, "host"), port));
    }

    /**
     * Starts in front of a Redis.
     *
     * @param redis stays the caller's
     * @return a proxy that lets everything pass
     */
    public static TcpProxy inFrontOf(RedisServer redis) {
        return to(redis.host(), redis.port());
    }

    /**
     * The proxy's host.
     *
     * @return the loopback address
     */
    public String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    /**
     * The proxy's port, always the same.
     *
     * @return a port of {@link #host}
     */
    public int port() {
        return port;
    }

    /** Lets bytes pass at once in both directions, and accepts new connections: the state of the beginning. */
    public void pass() {
        valves.values().forEach(TcpValve::pass);
        accept();
    }

    /**
     * Lets bytes pass at once. Connections that have lost some stay silent.
     *
     * @param direction which of them
     */
    public void pass(Direction direction) {
        valve(direction).pass();
    }

    /**
     * Drops whatever comes, on all connections, new ones too.
     *
     * @param directions which bytes
     */
    public void drop(Direction... directions) {
        Arrays.stream(directions).forEach(direction -> valve(direction).drop());
    }

    /**
     * Drops whatever comes on the connections that are open now, for good; later ones are not concerned.
     *
     * @param directions which bytes
     */
    public void dropOnOpen(Direction... directions) {
        Arrays.stream(directions).forEach(direction -> open.forEach(pair -> pair.silence(direction)));
    }

    /**
     * Drops whatever comes on one connection, for good. Does nothing when it has ended.
     *
     * @param number its place among all that were accepted: 1 for the first
     * @param directions which bytes
     */
    public void dropOn(long number, Direction... directions) {
        for (TcpPair pair : open) {
            if (pair.number() == number) {
                Arrays.stream(directions).forEach(pair::silence);
            }
        }
    }

    /**
     * Lets bytes pass this much later; under load, up to twice that.
     *
     * @param direction which bytes
     * @param time at least a millisecond; as good as for ever: held back until {@link #pass(Direction)} or a cut
     */
    public void delay(Direction direction, Duration time) {
        valve(direction).delay(time);
    }

    /** Resets all connections that are open now; bytes that were held back are lost. */
    public void cut() {
        open.forEach(TcpPair::cut);
    }

    /**
     * Lets so many more bytes pass, whichever connection they are of; then resets the connection that has the next one. Once; a
     * later call replaces an earlier one.
     *
     * @param direction which bytes
     * @param bytes 0 or more
     */
    public void cutAfter(Direction direction, long bytes) {
        valve(direction).cutAfter(bytes);
    }

    /** Refuses new connections, from its return on; open ones are not concerned. */
    public synchronized void refuse() {
        Listening old = listening;
        listening = null;
        if (old != null) {
            closeQuietly(old.socket());
            // The system goes on to listen until that thread has left its call.
            await(old.acceptor());
        }
    }

    /**
     * Accepts new connections again, at the same port.
     *
     * @throws UncheckedIOException if somebody else took it, and did not leave it within ten seconds
     */
    public synchronized void accept() {
        if (listening == null && !isClosed) {
            listen(bound(port));
        }
    }

    /**
     * Connections so far.
     *
     * @return how many were accepted since the start
     */
    public long connections() {
        return accepted.get();
    }

    /**
     * Connections now.
     *
     * @return how many are open on at least one side
     */
    public int openConnections() {
        return open.size();
    }

    /**
     * Bytes so far.
     *
     * @param direction which of them
     * @return how many were passed on since the start
     */
    public long bytes(Direction direction) {
        return valve(direction).passed();
    }

    /** Ends all connections and all threads. */
    @Override
    public void close() {
        isClosed = true;
        refuse();
        cut();
    }

    private TcpValve valve(Direction direction) {
        return requireNonNull(valves.get(requireNonNull(direction, "direction")));
    }

    private synchronized void listen(ServerSocket bound) {
        listening = new Listening(bound, start("accept", () -> acceptAll(bound)));
    }

    private void acceptAll(ServerSocket bound) {
        try {
            while (true) {
                accepted(bound.accept());
            }
        } catch (IOException refused) {
            // The listener was closed: that is how this thread ends.
        }
    }

    private void accepted(Socket client) {
        TcpPair pair = new TcpPair(accepted.incrementAndGet(), client, open::remove);
        open.add(pair);
        if (isClosed || open.size() > MOST_CONNECTIONS) {
            pair.cut();
            return;
        }
        start("to server", () -> {
            if (pair.connect(server)) {
                start("to client", () -> pair.pump(Direction.TO_CLIENT, valve(Direction.TO_CLIENT)));
                pair.pump(Direction.TO_SERVER, valve(Direction.TO_SERVER));
            }
        });
    }

    @CanIgnoreReturnValue
    private Thread start(String role, Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy-%d-%s".formatted(port, role));
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void await(Thread thread) {
        try {
            thread.join(BIND_LIMIT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ServerSocket bound(int port) {
        long startNanos = System.nanoTime();
        while (true) {
            try {
                ServerSocket socket = new ServerSocket();
                socket.setReuseAddress(true);
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 200);
                return socket;
            } catch (IOException taken) {
                if (port == 0 || System.nanoTime() - startNanos > BIND_LIMIT.toNanos()) {
                    throw new UncheckedIOException("no listener at port " + port, taken);
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(10);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the port was taken", e);
        }
    }

    static void closeQuietly(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception alreadyGone) {
            // It is closed then, and that is all that was wanted.
        }
    }

    @Override
    public String toString() {
        return "proxy at %s:%d to %s".formatted(host(), port, server);
    }
}
