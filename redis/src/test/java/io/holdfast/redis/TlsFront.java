package io.holdfast.redis;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.util.function.Consumer;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;

/** Speaks TLS in front of a server whose program cannot: accepts connections and forwards their bytes. */
final class TlsFront implements AutoCloseable {

    private final ServerSocket listener;
    private final InetSocketAddress server;

    private TlsFront(ServerSocket listener, InetSocketAddress server) {
        this.listener = listener;
        this.server = server;
    }

    static TlsFront of(Store store, TlsFiles files) throws IOException, GeneralSecurityException {
        return of(store, files, listener -> {});
    }

    /** Makes a front that speaks only with clients that have a certificate of their own: the same one, here. */
    static TlsFront ofKnownClients(Store store, TlsFiles files) throws IOException, GeneralSecurityException {
        return of(store, files, listener -> listener.setNeedClientAuth(true));
    }

    /** Makes a front with requirements of its own. */
    static TlsFront of(Store store, TlsFiles files, Consumer<SSLServerSocket> demands)
            throws IOException, GeneralSecurityException {
        return at(0, store, files, demands);
    }

    /** Makes a front in place of one that was closed. */
    static TlsFront at(int port, Store store, TlsFiles files, Consumer<SSLServerSocket> demands)
            throws IOException, GeneralSecurityException {
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(TlsFiles.load(files.trustStore()));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(TlsFiles.load(files.keyStore()), TlsFiles.PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        ServerSocket listener =
                context.getServerSocketFactory().createServerSocket(port, 50, InetAddress.getLoopbackAddress());
        demands.accept((SSLServerSocket) listener);
        TlsFront front = new TlsFront(listener, new InetSocketAddress(store.server.host(), store.server.port()));
        start(front::acceptAll);
        return front;
    }

    int port() {
        return listener.getLocalPort();
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket client = listener.accept();
                Socket plain = new Socket(server.getAddress(), server.getPort());
                start(() -> pass(client, plain));
                start(() -> pass(plain, client));
            }
        } catch (IOException closed) {
            // The end of the test.
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

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
