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
 * A proxy in front of a server, for any protocol, that disturbs the connections through it. It has its own address on
 * the loopback interface, two daemon threads for each connection, and one that accepts connections. It ends with
 * {@link #close}.
 *
 * <p>Each direction is in one of three states: bytes pass (the default), pass after a delay, or are dropped silently.
 * Dropped bytes are lost for good. A connection that lost a byte, or the end of one side, stays silent in that
 * direction, as behind a firewall that has forgotten it. Its other side gets no signal that this side has ended. New
 * connections are not affected.
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

    /** The direction of bytes. */
    public enum Direction {
        /** From the client to the server. */
        TO_SERVER,
        /** From the server to the client. */
        TO_CLIENT
    }

    /** More connections at once are a mistake of the test; the proxy resets them. */
    private static final int MOST_CONNECTIONS = 1_000;

    /** Another process may use the port for a moment. */
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

    /** A port, and the thread that accepts there. */
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
     * Starts in front of a server, which need not run yet.
     *
     * @param host the host of the server
     * @param port the port of the server
     * @return a proxy that passes all bytes
     */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(requireNonNull(host, "host"), port));
    }

    /**
     * Starts in front of a Redis.
     *
     * @param redis the server; the caller closes it
     * @return a proxy that passes all bytes
     */
    public static TcpProxy inFrontOf(RedisServer redis) {
        return to(redis.host(), redis.port());
    }

    /**
     * Returns the proxy's host.
     *
     * @return the loopback address
     */
    public String host() {
        return InetAddress.getLoopbackAddress().getHostAddress();
    }

    /**
     * Returns the proxy's port, always the same.
     *
     * @return a port of {@link #host}
     */
    public int port() {
        return port;
    }

    /** Passes bytes at once in both directions, and accepts new connections, as at the start. */
    public void pass() {
        valves.values().forEach(TcpValve::pass);
        accept();
    }

    /**
     * Passes bytes at once. Connections that have lost bytes stay silent.
     *
     * @param direction the direction
     */
    public void pass(Direction direction) {
        valve(direction).pass();
    }

    /**
     * Drops all bytes, on all connections, new ones too.
     *
     * @param directions the directions
     */
    public void drop(Direction... directions) {
        Arrays.stream(directions).forEach(direction -> valve(direction).drop());
    }

    /**
     * Drops all bytes on the connections that are open now, for good; later ones are not affected.
     *
     * @param directions the directions
     */
    public void dropOnOpen(Direction... directions) {
        Arrays.stream(directions).forEach(direction -> open.forEach(pair -> pair.silence(direction)));
    }

    /**
     * Drops all bytes on one connection, for good. Does nothing when the connection has ended.
     *
     * @param number its number among all accepted connections: 1 for the first
     * @param directions the directions
     */
    public void dropOn(long number, Direction... directions) {
        for (TcpPair pair : open) {
            if (pair.number() == number) {
                Arrays.stream(directions).forEach(pair::silence);
            }
        }
    }

    /**
     * Delays bytes by this time; under load, by up to twice that.
     *
     * @param direction the direction
     * @param time at least a millisecond; a very long time holds the bytes back until {@link #pass(Direction)} or a cut
     */
    public void delay(Direction direction, Duration time) {
        valve(direction).delay(time);
    }

    /** Resets all connections that are open now; held-back bytes are lost. */
    public void cut() {
        open.forEach(TcpPair::cut);
    }

    /** Ends all connections that are open now in an orderly way, as a server that stops; held-back bytes are lost. */
    public void finish() {
        open.forEach(TcpPair::finish);
    }

    /**
     * Passes this many more bytes, of all connections together; then resets the connection of the next byte. Works
     * once; a later call replaces an earlier one.
     *
     * @param direction the direction
     * @param bytes 0 or more
     */
    public void cutAfter(Direction direction, long bytes) {
        valve(direction).cutAfter(bytes);
    }

    /** Refuses new connections from its return on; open ones are not affected. */
    public synchronized void refuse() {
        Listening old = listening;
        listening = null;
        if (old != null) {
            closeQuietly(old.socket());
            // The system listens until that thread has left its call.
            await(old.acceptor());
        }
    }

    /**
     * Accepts new connections again, at the same port.
     *
     * @throws UncheckedIOException if another process took the port, and did not free it within ten seconds
     */
    public synchronized void accept() {
        if (listening == null && !isClosed) {
            listen(bound(port));
        }
    }

    /**
     * Returns how many connections were accepted so far.
     *
     * @return the number since the start
     */
    public long connections() {
        return accepted.get();
    }

    /**
     * Returns how many connections are open.
     *
     * @return the number of those that are open on at least one side
     */
    public int openConnections() {
        return open.size();
    }

    /**
     * Returns how many bytes were passed on so far.
     *
     * @param direction the direction
     * @return the number since the start
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
            // The listener was closed, which ends this thread.
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
            // The socket is closed all the same.
        }
    }

    @Override
    public String toString() {
        return "proxy at %s:%d to %s".formatted(host(), port, server);
    }
}
