package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockBackend;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** SSL bundles, with a stand-in for Redis that only requests the certificate of the client. */
class RedisTlsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    private static Path folder;

    private static Certificate certificate;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastAutoConfiguration.class, DataRedisAutoConfiguration.class, SslAutoConfiguration.class))
            .withPropertyValues(certificate.bundle("locks"))
            .withPropertyValues(certificate.bundle("restricted"));

    @BeforeAll
    static void makeCertificate() throws IOException {
        certificate = Certificate.in(folder);
    }

    /** Completes with the session of the first client, when that has sent something. */
    private static CompletableFuture<SSLSession> firstClient(SSLServerSocket listening) {
        CompletableFuture<SSLSession> seen = new CompletableFuture<>();
        Thread server = new Thread(
                () -> {
                    try (SSLSocket client = (SSLSocket) listening.accept()) {
                        assertThat(client.getInputStream().read())
                                .as("of a command")
                                .isEqualTo('*');
                        seen.complete(client.getSession());
                    } catch (IOException failed) {
                        seen.completeExceptionally(failed);
                    }
                },
                "tls-server");
        server.setUncaughtExceptionHandler((thread, error) -> seen.completeExceptionally(error));
        server.setDaemon(true);
        server.start();
        return seen;
    }

    /** Returns the session of a client of an application with these properties, in which the port is filled in. */
    private SSLSession session(String backend, String properties, String... more) {
        AtomicReference<SSLSession> session = new AtomicReference<>();
        runner.run(first -> {
            SSLContext tls = first.getBean(SslBundles.class).getBundle("locks").createSslContext();
            try (SSLServerSocket listening = (SSLServerSocket)
                    tls.getServerSocketFactory().createServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                listening.setNeedClientAuth(true);
                CompletableFuture<SSLSession> seen = firstClient(listening);
                runner.withPropertyValues("holdfast.backend=" + backend)
                        .withPropertyValues(
                                properties.formatted(listening.getLocalPort()).split(";"))
                        .withPropertyValues(more)
                        .run(context -> {
                            Throwable failure = context.getBean(LockBackend.class)
                                    .ping()
                                    .then(Mono.<Throwable>empty())
                                    .onErrorResume(Mono::just)
                                    .block(PATIENCE);
                            assertThat(seen).as("after %s", failure).succeedsWithin(PATIENCE);
                            session.set(seen.join());
                        });
            }
        });
        return session.get();
    }

    @ParameterizedTest
    @CsvSource({
        "redis, 'holdfast.redis.uri=redis://127.0.0.1:%d;holdfast.redis.ssl.bundle=locks'",
        "redis, 'holdfast.redis.uri=rediss://127.0.0.1:%d;holdfast.redis.ssl.bundle=locks'",
        "redis, 'holdfast.redis.cluster-uris=redis://127.0.0.1:%d;holdfast.redis.ssl.bundle=locks'",
        "redis, 'spring.data.redis.host=127.0.0.1;spring.data.redis.port=%d;spring.data.redis.ssl.bundle=locks'",
        "redis, 'spring.data.redis.url=redis://127.0.0.1:%d;holdfast.redis.ssl.bundle=locks'",
        "redlock, 'holdfast.redlock.uris=redis://127.0.0.1:%d,redis://127.0.0.1:1,redis://127.0.0.1:2;holdfast.redlock.ssl.bundle=locks'"
    })
    void aBundleTurnsOnTlsWithItsCertificates(String backend, String properties) throws SSLPeerUnverifiedException {
        assertThat(session(backend, properties).getPeerPrincipal().getName()).isEqualTo("CN=127.0.0.1");
    }

    @Test
    void aMissingBundleIsNamed() {
        runner.withPropertyValues(
                        "holdfast.backend=redis", "holdfast.redis.uri=redis://a", "holdfast.redis.ssl.bundle=lokcs")
                .run(context -> assertThat(Refusal.of(context))
                        .hasMessageContaining("holdfast.redis.ssl.bundle is 'lokcs', and there is no such SSL bundle"));
    }

    /** The server would speak TLS 1.3 with any cipher. */
    @ParameterizedTest
    @CsvSource({
        "enabled-protocols, TLSv1.2, 'TLSv1.2 .*'",
        "ciphers, TLS_CHACHA20_POLY1305_SHA256, 'TLSv1.3 TLS_CHACHA20_POLY1305_SHA256'"
    })
    void optionsOfABundleAreInForce(String option, String value, String seen) {
        SSLSession session = session(
                "redis",
                "holdfast.redis.uri=redis://127.0.0.1:%d;holdfast.redis.ssl.bundle=restricted",
                "spring.ssl.bundle.jks.restricted.options.%s=%s".formatted(option, value));

        assertThat(session.getProtocol() + " " + session.getCipherSuite()).matches(seen);
    }

    @Test
    void sentinelsUseTlsToo() {
        RedisURI given = RedisURI.create("redis-sentinel://me:secret@s1,s2/2#main");

        RedisURI secured = RedisTls.address(given, SslBundle.systemDefault());

        assertThat(secured.isSsl()).isTrue();
        assertThat(secured.getSentinelMasterId()).isEqualTo("main");
        assertThat(secured.getDatabase()).isEqualTo(2);
        assertThat(secured.getSentinels()).hasSize(2).allMatch(RedisURI::isSsl);
        assertThat(given.isSsl()).as("TLS in the address of the application").isFalse();
    }
}
