package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.Waiting;
import io.holdfast.testkit.server.TlsFront;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that worked loses its connection, and the server refuses the next one: the errors say why. */
class RefusedReconnectIT {

    private Store store;
    private RedisLockBackend backend;
    private int attempts;

    @BeforeEach
    void start() {
        store = Store.start();
    }

    @AfterEach
    void stop() {
        Store.end(backend);
        store.close();
    }

    @Test
    void aPasswordThatWasChangedIsNamedUntilTheClientIsLetInAgain() {
        store.user("app", "on >first ~* &* +@all");
        RedisURI uri = RedisURI.create("redis://app:first@%s:%d".formatted(store.server.host(), store.server.port()));
        backend = RedisLockBackend.create(uri);
        works();

        store.user("app", "on >other ~* &* +@all");
        cut();

        LockBackendException failure = failureWith("cannot be made anew: user name or password is wrong");
        assertThat(failure).hasMessageContaining("WRONGPASS").hasMessageContaining(":" + store.server.port());
        assertThat(failure.isTransient()).as("an operator may set it back").isTrue();

        store.user("app", "on >first ~* &* +@all");
        eventually(this::isServed);
    }

    @Test
    void aCertificateOfAnUnknownAuthorityIsNamedUntilTheClientIsLetInAgain(@TempDir Path folder)
            throws IOException, GeneralSecurityException {
        TlsFiles known = TlsFiles.in(Files.createDirectory(folder.resolve("known")));
        TlsFiles unknown = TlsFiles.in(Files.createDirectory(folder.resolve("unknown")));
        TlsFront front = TlsFronts.of(store, known);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(TlsFiles.load(known.trustStore()));
        backend = RedisLockBackend.builder(RedisURI.create("rediss://127.0.0.1:" + front.port()))
                .trust(trust)
                .build();
        works();

        front.close();
        try (TlsFront other = TlsFronts.at(front.port(), store, unknown, listener -> {})) {
            cut();
            LockBackendException failure = failureWith("cannot be made anew: TLS failed: check the certificate");
            assertThat(failure.isTransient()).isTrue();
            assertThat(other.port()).isEqualTo(front.port());
        }
        try (TlsFront again = TlsFronts.at(front.port(), store, known, listener -> {})) {
            eventually(this::isServed);
            assertThat(again.port()).isEqualTo(front.port());
        }
    }

    private void works() {
        assertThat(Store.answer(backend.tryAcquire(Store.claim("works", Waiting.NONE))))
                .isInstanceOf(LockAttempt.Acquired.class);
    }

    private void cut() {
        Long killed = store.redis().clientKill(KillArgs.Builder.skipme());
        assertThat(killed).isPositive();
    }

    private LockBackendException failureWith(String text) {
        AtomicReference<LockBackendException> last = new AtomicReference<>();
        eventually(() -> {
            last.set(failure());
            return String.valueOf(last.get()).contains(text);
        });
        return last.get();
    }

    private boolean isServed() {
        return failure() == null;
    }

    /** Returns the failure of an attempt; null if the lock was acquired. */
    private @Nullable LockBackendException failure() {
        try {
            LockAttempt answer = Store.answer(backend.tryAcquire(Store.claim("again " + attempts++, Waiting.NONE)));
            assertThat(answer).isInstanceOf(LockAttempt.Acquired.class);
            return null;
        } catch (LockBackendException failure) {
            return failure;
        }
    }
}
