package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A replica that has missed the last transactions is promoted, or a primary stops accepting writes. */
class R2dbcFailoverIT {

    private static final LockOptions SHORT = LockOptions.builder()
            .leaseDuration(Duration.ofSeconds(1))
            .autoRenew(false)
            .waitTimeout(Duration.ofSeconds(15))
            .build();

    /** The new primary knows only the former holder: for it, the last holder has never held the lock. */
    @Test
    void formerHolderCommitsNothingOnAPromotedReplicaThatMissedItsGrant() {
        try (PostgresStore primary = Store.start();
                Store replica = primary.replica()) {
            LockClient locks = LockClient.create(R2dbcLockBackend.create(primary.connections()));
            LockLease known = run(locks.lock("failover").with(SHORT).acquire());
            Store.eventually(() -> !replica.texts("select 1 from holdfast_lock where token = " + known.fencingToken())
                    .isEmpty());
            replica.execute("alter system reset primary_conninfo");
            replica.execute("select pg_reload_conf()");
            Store.eventually(
                    () -> primary.texts("select 1 from pg_stat_replication").isEmpty());

            run(known.release());
            LockLease missed = run(locks.lock("failover").with(SHORT).acquire());
            primary.server().crash();
            replica.execute("select pg_promote()");
            R2dbcLockBackend promoted = R2dbcLockBackend.create(replica.connections());
            LockClient after = LockClient.create(promoted);
            assertThatThrownBy(() -> check(replica, missed)).isInstanceOf(LockLostException.class);

            LockLease next = run(after.lock("failover").with(SHORT).acquire());
            assertThat(next.fencingToken()).isGreaterThan(missed.fencingToken());
            assertThatThrownBy(() -> check(replica, missed)).isInstanceOf(LockLostException.class);
            assertThatThrownBy(() -> check(replica, known)).isInstanceOf(LockLostException.class);
            check(replica, next);
            run(next.release());
            assertThat(replica.leftovers()).isEmpty();
            run(after.close());
            Store.end(promoted);
            primary.server().start();
        }
    }

    /** The table of waiters is not on a standby. */
    @Test
    void inspectorOfAHotStandbyIsToldToConnectToThePrimary() {
        try (PostgresStore primary = Store.start();
                Store replica = primary.replica()) {
            Store.eventually(() -> !replica.texts("select 1 from pg_class where relname = 'holdfast_lock'")
                    .isEmpty());
            assertThatThrownBy(() -> R2dbcLockBackend.builder(replica.connections())
                            .inspector()
                            .all()
                            .blockLast(Store.PATIENCE))
                    .isInstanceOf(LockBackendException.class)
                    .hasMessageContaining("it is a hot standby");
        }
    }

    @Test
    void primaryThatTakesNoMoreWritesIsReportedAndUsedAgainLater() {
        try (Store store = Store.start()) {
            R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
            LockClient locks = LockClient.create(backend);
            LockLease held = run(locks.lock("read-only").acquire());
            readOnly(store, "on");
            // The client may not have seen yet that the server has ended its connections.
            Store.eventually(() -> refusal(held).contains("the server takes no writes"));
            readOnly(store, "off");
            Store.eventually(() -> refusal(held).isEmpty());
            run(held.release());
            assertThat(store.leftovers()).isEmpty();
            run(locks.close());
            Store.end(backend);
        }
    }

    /** Renews. Returns the message of the error, which must be transient; an empty text after success. */
    private static String refusal(LockLease held) {
        try {
            run(held.renew());
            return "";
        } catch (LockBackendException refused) {
            assertThat(refused.isTransient()).isTrue();
            return refused.getMessage();
        }
    }

    private static void readOnly(Store store, String value) {
        store.execute("alter system set default_transaction_read_only = " + value);
        store.execute("select pg_reload_conf()");
        Store.eventually(() -> store.texts("show default_transaction_read_only").equals(List.of(value)));
        store.killClientConnections();
        Store.eventually(() -> store.clientConnections() == 0);
    }

    private static void check(Store store, LockLease lease) {
        Connection data = store.connect();
        try {
            run(data.beginTransaction());
            run(Fence.check(data, lease));
            run(data.commitTransaction());
        } finally {
            run(data.close());
        }
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
