package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.LockBackendException;
import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.TlsFront;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** TLS in front of a server, and TLS of the server itself if its program supports it and finds the files. */
class RedisTlsIT {

    @TempDir
    private static Path folder;

    private static TlsFiles files;
    private static Store store;
    private static TlsFront front;

    /** 0 if the server has none. */
    private static int ownPort;

    @BeforeAll
    static void start() throws IOException, GeneralSecurityException {
        files = TlsFiles.in(folder);
        store = Store.start();
        front = TlsFronts.of(store, files);
        ownPort = portOfTheServersOwn();
        System.out.println("[holdfast] TLS by " + (ownPort == 0 ? "a front only" : "the server, and by a front"));
    }

    @AfterAll
    static void stop() throws IOException {
        front.close();
        store.close();
    }

    private static int portOfTheServersOwn() throws IOException {
        try {
            set("tls-cert-file", files.certificate().toString());
            set("tls-key-file", files.key().toString());
            set("tls-ca-cert-file", files.certificate().toString());
            set("tls-auth-clients", "no");
            int free = FreePorts.next();
            set("tls-port", Integer.toString(free));
            return free;
        } catch (RedisCommandExecutionException noTls) {
            return 0;
        }
    }

    private static void set(String name, String value) {
        assertThat(store.redis().configSet(name, value)).isEqualTo("OK");
    }

    private static IntStream ports() {
        return IntStream.of(front.port(), ownPort).filter(port -> port != 0);
    }

    private static RedisURI uri(int port) {
        return RedisURI.create("rediss://127.0.0.1:" + port);
    }

    private static RedisLockBackend trusting(int port) throws IOException, GeneralSecurityException {
        return trusting(uri(port));
    }

    private static RedisLockBackend trusting(RedisURI uri) throws IOException, GeneralSecurityException {
        return trustingBuilder(uri).build();
    }

    private static RedisLockBackend.Builder trustingBuilder(RedisURI uri) throws IOException, GeneralSecurityException {
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(TlsFiles.load(files.trustStore()));
        return RedisLockBackend.builder(uri).trust(trust);
    }

    @ParameterizedTest
    @MethodSource("ports")
    void commandsAndPushesTravelOverTls(int port) throws InterruptedException, IOException, GeneralSecurityException {
        RedisLockBackend one = trusting(port);
        RedisLockBackend two = trusting(port);
        RedisProtocolIT.handsOver(one, two);
        Store.end(one);
        Store.end(two);
    }

    @ParameterizedTest
    @MethodSource("ports")
    void aCertificateOfAnUnknownAuthorityIsRefused(int port) {
        RedisLockBackend trustful = RedisLockBackend.create(uri(port));
        LockBackendException failure = failure(trustful);
        assertThat(failure).hasMessageContaining("TLS failed: check the certificate");
        assertThat(failure.isTransient()).isFalse();
        Store.end(trustful);
    }

    /** BlockHound fails the connection if its event loop reads a file. */
    @ParameterizedTest
    @MethodSource("ports")
    void theAuthoritiesOfTheJvmAreNotReadOnAnEventLoop(int port) throws InterruptedException {
        Map<String, String> ofTheTest = Map.of(
                "javax.net.ssl.trustStore",
                files.trustStore().toString(),
                "javax.net.ssl.trustStorePassword",
                TlsFiles.PASSWORD);
        try {
            ofTheTest.forEach(System::setProperty);
            RedisLockBackend one = RedisLockBackend.create(uri(port));
            RedisLockBackend two = RedisLockBackend.create(uri(port));
            RedisProtocolIT.handsOver(one, two);
            Store.end(one);
            Store.end(two);
        } finally {
            ofTheTest.keySet().forEach(System::clearProperty);
        }
    }

    @ParameterizedTest
    @MethodSource("ports")
    void authoritiesThatCannotBeReadFailTheAttemptOnly(int port) throws IOException {
        System.setProperty("javax.net.ssl.trustStore", files.certificate().toString());
        RedisLockBackend backend = RedisLockBackend.create(uri(port));
        try {
            assertThat(failure(backend)).hasMessageContaining("request to the server failed");
            System.setProperty("javax.net.ssl.trustStore", files.trustStore().toString());
            System.setProperty("javax.net.ssl.trustStorePassword", TlsFiles.PASSWORD);
            assertThat(Store.answer(backend.tryAcquire(Store.claim("trusted " + port))))
                    .isNotNull();
        } finally {
            System.clearProperty("javax.net.ssl.trustStore");
            System.clearProperty("javax.net.ssl.trustStorePassword");
            Store.end(backend);
        }
    }

    @Test
    void aClientShowsItsOwnCertificateWhereTheServerWantsOne()
            throws InterruptedException, IOException, GeneralSecurityException {
        try (TlsFront strict = TlsFronts.ofKnownClients(store, files)) {
            RedisLockBackend unknown = trusting(strict.port());
            assertThat(failure(unknown)).isNotNull();
            Store.end(unknown);

            RedisLockBackend one = known(strict.port());
            RedisLockBackend two = known(strict.port());
            RedisProtocolIT.handsOver(one, two);
            Store.end(one);
            Store.end(two);
        }
    }

    @Test
    void aClientSpeaksOnlyTheVersionsThatItIsGiven() throws IOException, GeneralSecurityException {
        try (TlsFront old =
                TlsFronts.of(store, files, listener -> listener.setEnabledProtocols(new String[] {"TLSv1.2"}))) {
            assertSpeaksOnly(
                    trustingBuilder(uri(old.port())).tlsProtocols(List.of("TLSv1.2")),
                    trustingBuilder(uri(old.port())).tlsProtocols(List.of("TLSv1.3")));
        }
    }

    @Test
    void aClientSpeaksOnlyTheCiphersThatItIsGiven() throws IOException, GeneralSecurityException {
        try (TlsFront choosy = TlsFronts.of(
                store, files, listener -> listener.setEnabledCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"}))) {
            assertSpeaksOnly(
                    trustingBuilder(uri(choosy.port())).tlsCiphers(List.of("TLS_AES_128_GCM_SHA256")),
                    trustingBuilder(uri(choosy.port())).tlsCiphers(List.of("TLS_AES_256_GCM_SHA384")));
        }
    }

    private static void assertSpeaksOnly(RedisLockBackend.Builder fit, RedisLockBackend.Builder other) {
        RedisLockBackend understood = fit.build();
        assertThat(Store.answer(understood.tryAcquire(Store.claim("understood"))))
                .isNotNull();
        Store.end(understood);

        RedisLockBackend refused = other.build();
        assertThat(failure(refused)).isNotNull();
        Store.end(refused);
    }

    private static RedisLockBackend known(int port) throws IOException, GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(TlsFiles.load(files.keyStore()), TlsFiles.PASSWORD.toCharArray());
        return trustingBuilder(uri(port)).identity(keys).build();
    }

    private static LockBackendException failure(RedisLockBackend by) {
        LockBackendException failure = catchThrowableOfType(
                LockBackendException.class, () -> Store.answer(by.tryAcquire(Store.claim("orders"))));
        assertThat(failure).as("a failure").isNotNull();
        return failure;
    }

    @Test
    void theErrorOfAPlainAddressAtATlsPortNamesTls() {
        ports().forEach(port -> {
            RedisLockBackend plain = RedisLockBackend.create(RedisURI.create("redis://127.0.0.1:" + port));
            assertThatThrownBy(() -> Store.answer(plain.tryAcquire(Store.claim("orders"))))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("begin the address with rediss://");
            Store.end(plain);
        });
    }

    @Test
    void theErrorOfATlsAddressAtAPlainPortNamesTls() throws IOException, GeneralSecurityException {
        RedisURI uri = uri(store.server.port());
        uri.setTimeout(Duration.ofMillis(500));
        RedisLockBackend withTls = trusting(uri);
        assertThatThrownBy(() -> Store.answer(withTls.tryAcquire(Store.claim("orders"))))
                .isInstanceOf(LockBackendException.class)
                .hasMessageContaining("that the port speaks TLS");
        Store.end(withTls);
    }
}
