package io.holdfast.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/**
 * Speaks TLS in front of a server that does not: accepts connections and forwards their bytes, until it is closed. Each connection has two
 * threads, so it is for few connections.
 */
public final class TlsFront implements AutoCloseable {

    private static final int BACKLOG = 50;

    private final SSLServerSocket listener;
    private final String host;
    private final int serverPort;

    private TlsFront(SSLServerSocket listener, String host, int serverPort) {
        this.listener = listener;
        this.host = host;
        this.serverPort = serverPort;
    }

    /**
     * Starts in front of a server, which need not run yet.
     *
     * @param context with the certificate of the front, and those that it trusts
     * @param port the port of the front at the loopback address; 0 for any free one
     * @param host the host of the server
     * @param serverPort the port of the server
     * @param demands what the front asks of its clients
     * @return a front that accepts connections
     * @throws UncheckedIOException if the port is taken
     */
    public static TlsFront of(
            SSLContext context, int port, String host, int serverPort, Consumer<SSLServerSocket> demands) {
        try {
            SSLServerSocket listener = (SSLServerSocket) context.getServerSocketFactory()
                    .createServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress());
            demands.accept(listener);
            TlsFront front = new TlsFront(listener, host, serverPort);
            start(front::acceptAll);
            return front;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the port of the front.
     *
     * @return a port of the loopback address
     */
    public int port() {
        return listener.getLocalPort();
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket plain = new Socket(host, serverPort);
                start(() -> pass(client, plain));
                start(() -> pass(plain, client));
            }
        } catch (IOException closed) {
            // The listener was closed, which ends this thread.
        }
    }

    private static void pass(Socket from, Socket to) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            byte[] some = new byte[8192];
            for (int n = in.read(some); n >= 0; n = in.read(some)) {
                to.getOutputStream().write(some, 0, n);
                to.getOutputStream().flush();
            }
        } catch (IOException closed) {
            // Closed by either side: the other one is closed with it.
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "tls-front");
        thread.setDaemon(true);
        thread.start();
    }

    /** Accepts no further connections. Those that are open stay open. */
    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
