package io.holdfast.redis.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import org.junit.jupiter.api.Test;

/** With {@code lossByPush}, the server also watches the keys of adopted leases: they begin with a renewal. */
class AdoptedKeyTest {

    private final LockOperations operations = ManualOperations.over(new ManualDriver(), true);

    @Test
    void theKeyOfAnAdoptedMutexIsWatchedUntilItsLeaseEnds() {
        var watch = operations.watch(Store.claim("orders", Waiting.NONE)).subscribe();
        assertThat(operations.watchedKeys()).isOne();

        watch.dispose();

        assertThat(operations.watchedKeys()).isZero();
    }

    @Test
    void theKeyOfAWaiterIsNotWatched() {
        var watch = operations.watch(Store.claim("orders", Waiting.QUEUE)).subscribe();
        assertThat(operations.watchedKeys()).isZero();
        watch.dispose();
    }

    /** On a master of a Redlock, another claim of this client may hold the lock. */
    @Test
    void aSecondClaimDoesNotReplaceTheHolder() {
        LockClaim holder = Store.claim("orders", Waiting.NONE);
        var first = operations.watch(holder).subscribe();
        var second = operations.watch(Store.claim("orders", Waiting.NONE)).subscribe();

        second.dispose();

        assertThat(operations.watchedKeys()).isOne();
        first.dispose();
        assertThat(operations.watchedKeys()).isZero();
    }
}
