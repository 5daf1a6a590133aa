package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A writer has died, its lease has expired, and a reader holds the lock now. The writer must not affect other claims. */
class R2dbcStaleWriterIT {

    private static final LockOptions LONG = LockOptions.builder()
            .leaseDuration(Duration.ofSeconds(30))
            .waitTimeout(Duration.ofSeconds(10))
            .build();

    private static Store store;
    private static R2dbcLockBackend backend;
    private static LockClient locks;

    private final String name = "writer/" + UUID.randomUUID();
    private LockLease reader;

    @BeforeAll
    static void start() {
        store = Store.start();
        backend = R2dbcLockBackend.create(store.connections());
        locks = LockClient.create(backend);
    }

    @AfterAll
    static void stop() {
        run(locks.close());
        Store.end(backend);
        store.close();
    }

    @BeforeEach
    void startWithADeadWriter() {
        LockClaim writer = claim(LockKind.WRITE, Duration.ofMillis(20), Waiting.NONE);
        run(backend.tryAcquire(writer));
        reader = run(locks.readWriteLock(name).readLock().with(LONG).acquire());
    }

    @AfterEach
    void release() {
        run(reader.release());
        assertThat(store.leftovers()).isEmpty();
    }

    @Test
    void queuedWriterDoesNotPollForIt() {
        LockClaim next = claim(LockKind.WRITE, Duration.ofSeconds(30), Waiting.QUEUE);
        assertThat(run(backend.tryAcquire(next)))
                .isInstanceOfSatisfying(
                        LockAttempt.Queued.class,
                        queued -> assertThat(queued.nextAttemptWithin()).isGreaterThan(Duration.ofSeconds(1)));
        run(backend.release(next));
    }

    @Test
    void releasedReaderFailsAtTheFence() {
        run(reader.release());
        Connection data = store.connect();
        run(data.beginTransaction());
        assertThatThrownBy(() -> run(Fence.check(data, reader))).isInstanceOf(LockLostException.class);
        run(data.close());
    }

    @Test
    void fencedReaderDelaysNoReaders() {
        Connection data = store.connect();
        run(data.beginTransaction());
        run(Fence.check(data, reader));
        LockClaim other = claim(LockKind.READ, Duration.ofSeconds(30), Waiting.NONE);
        assertThat(run(backend.tryAcquire(other))).isInstanceOf(LockAttempt.Acquired.class);
        run(backend.release(other));
        run(data.close());
    }

    private LockClaim claim(LockKind kind, Duration lease, Waiting waiting) {
        return LockClaim.first(LockKey.of(kind, name), UUID.randomUUID().toString(), lease, waiting);
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
