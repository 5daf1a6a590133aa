package io.holdfast.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A later version of the schema adds columns with defaults, and functions with other names. Clients of version 1 go on meanwhile. */
class R2dbcSchemaUpdateIT {

    private static final String V2 = """
            alter table holdfast_lock add column owner text not null default '';
            alter table holdfast_waiter add column owner text not null default '';
            alter table holdfast_tombstone add column owner text not null default '';
            alter table holdfast_schema add column updated_at timestamptz not null default clock_timestamp();
            update holdfast_schema set version = 2;
            create function holdfast_owner_v2(p_name text) returns text language sql volatile as $$
              select owner from holdfast_lock where name = p_name and slot = 0
            $$;
            """;

    @Test
    void clientsOfVersionOneGoOnWhileAndAfterTheSchemaIsUpdated() {
        try (Store store = Store.start()) {
            R2dbcLockBackend backend = R2dbcLockBackend.create(store.connections());
            LockClient locks = LockClient.create(backend);
            useAll(locks);
            LockLease held = run(locks.lock("held").acquire());
            LockLease reader = run(locks.readWriteLock("held").readLock().acquire());
            store.execute(V2);
            run(held.renew());
            run(reader.renew());
            useAll(locks);
            run(held.release());
            run(reader.release());
            assertThat(store.texts("select holdfast_owner_v2('held')")).containsExactly("");
            assertThat(store.texts("select holdfast_sweep_v1()")).containsExactly("true");
            assertThat(store.leftovers()).isEmpty();
            run(locks.close());
            Store.end(backend);
        }
    }

    /** Two claims want each lock, so that one of them waits. */
    private static void useAll(LockClient locks) {
        run(Mono.when(once(locks.lock("held again")), once(locks.lock("held again"))));
        run(Mono.when(
                once(locks.readWriteLock("rw").writeLock()),
                once(locks.readWriteLock("rw").readLock())));
        run(Mono.when(once(locks.semaphore("permits", 1)), once(locks.semaphore("permits", 1))));
    }

    private static Mono<Integer> once(ReactiveLock lock) {
        return lock.withLock(lease -> Mono.just(1));
    }

    @CanIgnoreReturnValue
    private static <T> T run(Publisher<T> work) {
        return Mono.from(work).block(Store.PATIENCE);
    }
}
