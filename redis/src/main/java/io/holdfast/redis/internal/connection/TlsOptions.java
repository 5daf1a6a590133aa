package io.holdfast.redis.internal.connection;

import io.lettuce.core.SslOptions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The authorities, the certificate and the restrictions for connections with TLS. Without the caller's authorities,
 * those of the JVM are trusted. The driver would read their file for each connection, on its event loop. So this class
 * reads the file: once, on a thread that may wait.
 */
public final class TlsOptions {

    private final @Nullable TrustManagerFactory authorities;
    private final @Nullable KeyManagerFactory identity;
    private final List<String> protocols;
    private final List<String> ciphers;
    private final AtomicReference<@Nullable CompletableFuture<SslOptions>> options = new AtomicReference<>();

    /**
     * Makes options and reads no file yet.
     *
     * @param authorities null for those of the JVM
     * @param identity null for none
     * @param protocols empty for those of the JVM
     * @param ciphers empty for those of the JVM
     */
    public TlsOptions(
            @Nullable TrustManagerFactory authorities,
            @Nullable KeyManagerFactory identity,
            List<String> protocols,
            List<String> ciphers) {
        this.authorities = authorities;
        this.identity = identity;
        this.protocols = protocols;
        this.ciphers = ciphers;
    }

    /** Returns the options. Fails if the authorities of the JVM cannot be read; the next call tries again. */
    CompletableFuture<SslOptions> options() {
        CompletableFuture<SslOptions> made = new CompletableFuture<>();
        CompletableFuture<SslOptions> known = options.compareAndExchange(null, made);
        if (known != null) {
            return known;
        }
        try {
            if (authorities != null) {
                made.complete(with(authorities));
            } else {
                Thread reader = new Thread(() -> read(made), "holdfast-redis-trust");
                reader.setDaemon(true);
                reader.start();
            }
        } catch (RuntimeException | Error thrown) {
            fail(made, thrown); // on a lack of threads, for example: connections would wait for ever
        }
        return made;
    }

    private void read(CompletableFuture<SslOptions> made) {
        try {
            TrustManagerFactory ofTheJvm = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            ofTheJvm.init((KeyStore) null);
            made.complete(with(ofTheJvm));
        } catch (GeneralSecurityException | RuntimeException | Error unreadable) {
            fail(made, unreadable);
        }
    }

    private void fail(CompletableFuture<SslOptions> made, Throwable error) {
        options.set(null);
        made.completeExceptionally(error);
    }

    private SslOptions with(TrustManagerFactory trusted) {
        SslOptions.Builder built = SslOptions.builder().trustManager(trusted);
        if (identity != null) {
            built.keyManager(identity);
        }
        if (!protocols.isEmpty()) {
            built.protocols(protocols.toArray(String[]::new));
        }
        if (!ciphers.isEmpty()) {
            built.cipherSuites(ciphers.toArray(String[]::new));
        }
        return built.build();
    }
}
