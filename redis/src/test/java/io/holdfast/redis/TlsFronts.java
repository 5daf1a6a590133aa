package io.holdfast.redis;

import io.holdfast.testkit.server.TlsFront;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.function.Consumer;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;

/** Fronts that speak TLS for a Redis whose program cannot. */
final class TlsFronts {

    private TlsFronts() {}

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
        return TlsFront.of(context, port, store.server.host(), store.server.port(), demands);
    }
}
