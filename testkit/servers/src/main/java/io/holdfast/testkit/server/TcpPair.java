package io.holdfast.testkit.server;

import io.holdfast.testkit.server.TcpProxy.Direction;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** One connection through a proxy: its two sockets. The end of one is passed on to the other. */
final class TcpPair {

    private static final int CONNECT_MILLIS = 5_000;
    private static final int BUFFER = 16_384;

    private final long number;
    private final Socket client;
    private final Socket server = new Socket();
    private final Consumer<TcpPair> atEnd;

    /** Directions in which bytes were lost, or will be. */
    private final Set<Direction> silent = ConcurrentHashMap.newKeySet();

    private final AtomicInteger passedEnds = new AtomicInteger();

    /** Written by the thread that resets the connection. */
    private volatile boolean isOver;

    TcpPair(long number, Socket client, Consumer<TcpPair> atEnd) {
        this.number = number;
        this.client = client;
        this.atEnd = atEnd;
    }

    long number() {
        return number;
    }

    /** Returns false when the server cannot be reached; the client's side is reset then. */
    boolean connect(InetSocketAddress address) {
        try {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(new InetSocketAddress(address.getHostString(), address.getPort()), CONNECT_MILLIS);
        } catch (IOException unreachable) {
            cut();
            return false;
        }
        if (isOver) {
            cut();
        }
        return !isOver;
    }

    void silence(Direction direction) {
        silent.add(direction);
    }

    /** Passes bytes on until this direction ends. */
    void pump(Direction direction, TcpValve valve) {
        Socket from = direction == Direction.TO_SERVER ? client : server;
        Socket to = direction == Direction.TO_SERVER ? server : client;
        try {
            InputStream in = from.getInputStream();
            byte[] some = new byte[BUFFER];
            for (int n = in.read(some); n >= 0; n = in.read(some)) {
                TcpValve.Verdict verdict = admit(direction, valve, n);
                if (verdict.bytes() > 0) {
                    to.getOutputStream().write(some, 0, verdict.bytes());
                }
                if (verdict.isCut()) {
                    cut();
                    return;
                }
            }
            if (admit(direction, valve, 0).bytes() >= 0) {
                end(to);
            }
        } catch (IOException reset) {
            // A reset is passed on as a reset, unless this direction is silent.
            if (admit(direction, valve, 0).bytes() >= 0) {
                cut();
            }
        }
    }

    private TcpValve.Verdict admit(Direction direction, TcpValve valve, int bytes) {
        if (silent.contains(direction)) {
            return TcpValve.DROPPED;
        }
        TcpValve.Verdict verdict = valve.admit(bytes, () -> isOver || silent.contains(direction));
        if (verdict.bytes() < 0) {
            silent.add(direction);
        }
        return verdict;
    }

    /** Passes on the end of one side; the other may go on until it ends too. */
    private void end(Socket to) throws IOException {
        to.shutdownOutput();
        if (passedEnds.incrementAndGet() == Direction.values().length) {
            cut();
        }
    }

    /** Ends both sides without a reset. */
    void finish() {
        for (Direction direction : Direction.values()) {
            silence(direction);
        }
        for (Socket socket : new Socket[] {client, server}) {
            try {
                socket.shutdownOutput();
            } catch (IOException closed) {
                // The socket has ended already.
            }
        }
    }

    /** Resets both sides without waiting; bytes that were not sent yet are lost. */
    void cut() {
        isOver = true;
        for (Socket socket : new Socket[] {client, server}) {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException closed) {
                // The socket has ended already.
            }
            TcpProxy.closeQuietly(socket);
        }
        atEnd.accept(this);
    }
}
