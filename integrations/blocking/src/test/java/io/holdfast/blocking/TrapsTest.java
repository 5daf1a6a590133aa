package io.holdfast.blocking;

import static io.holdfast.blocking.Store.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.testkit.Fault;
import io.holdfast.testkit.FaultyLockBackend.Operation;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;

/** What goes wrong with a lock and {@code block()}, and not with {@link BlockingLock}. */
@Timeout(30)
class TrapsTest {

    private static final LockOptions SHORT =
            Store.OPTIONS.toBuilder().waitTimeout(Duration.ofSeconds(1)).build();

    interface Scope {

        @CanIgnoreReturnValue
        <T> T withLock(LockedWork<T, Exception> work) throws Exception;
    }

    /** As one would write it in an afternoon. */
    private static Scope naive(Store store) {
        return new Scope() {
            @Override
            public <T> T withLock(LockedWork<T, Exception> work) throws Exception {
                Thread worker = Thread.currentThread();
                LockLease lease = store.client.lock("a").with(SHORT).acquire().block();
                Disposable loss = lease.onLoss().subscribe(reason -> worker.interrupt());
                try {
                    return work.run(lease);
                } finally {
                    loss.dispose();
                    lease.release().onErrorComplete().block();
                }
            }
        };
    }

    private static Scope blocking(Store store) {
        return store.locks.lock("a").with(SHORT)::withLock;
    }

    enum Trap {
        THE_INTERRUPT_OF_A_LOSS_REACHES_THE_NEXT_TASK {
            @Override
            boolean isSprung(Store store, Scope scope) {
                try {
                    scope.withLock(lease -> {
                        store.lose(lease);
                        return 1;
                    });
                } catch (Exception lost) {
                    // in either way
                }
                return Thread.interrupted();
            }
        },
        WORK_WITHOUT_THE_LOCK_RETURNS_AS_IF_IT_HAD_IT {
            @Override
            boolean isSprung(Store store, Scope scope) throws Exception {
                try {
                    scope.withLock(lease -> {
                        store.lose(lease);
                        return Thread.interrupted();
                    });
                    return true;
                } catch (LockLostException lost) {
                    return false;
                }
            }
        },
        A_THREAD_WAITS_FOR_ITSELF {
            @Override
            boolean isSprung(Store store, Scope scope) {
                try {
                    return scope.withLock(outer -> scope.withLock(inner -> false));
                } catch (Exception timeout) {
                    return true;
                }
            }
        },
        AN_INTERRUPT_OF_THE_WAIT_IS_NOT_AN_INTERRUPTED_EXCEPTION {
            @Override
            boolean isSprung(Store store, Scope scope) throws Exception {
                return scope.withLock(lease -> {
                    CompletableFuture<Integer> other = new CompletableFuture<>();
                    Thread waiter = new Thread(() -> {
                        Thread.currentThread().interrupt();
                        try {
                            other.complete(scope.withLock(none -> 1));
                        } catch (Throwable failure) {
                            other.completeExceptionally(failure);
                        }
                    });
                    waiter.start();
                    try {
                        return other.get() > 0;
                    } catch (ExecutionException failed) {
                        return !(failed.getCause() instanceof InterruptedException);
                    }
                });
            }
        },
        AN_INTERRUPT_COSTS_THE_RELEASE_OR_THE_RESULT {
            @Override
            boolean isSprung(Store store, Scope scope) {
                store.faulty.on(Operation.RELEASE).always(Fault.delayedReply(Duration.ofMillis(20)));
                try {
                    scope.withLock(lease -> {
                        Thread.currentThread().interrupt();
                        return 1;
                    });
                    return !Thread.interrupted() || store.isHeld("a");
                } catch (Exception interrupted) {
                    return true;
                } finally {
                    boolean unused = Thread.interrupted();
                }
            }
        };

        abstract boolean isSprung(Store store, Scope scope) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void aTrapCatchesNaiveCodeAndNotTheBlockingLock(Trap trap) throws Exception {
        Store store = new Store();
        assertThat(trap.isSprung(store, naive(store))).as("naive code").isTrue();
        assertThat(Thread.interrupted()).isFalse();
        Store other = new Store();
        assertThat(trap.isSprung(other, blocking(other)))
                .as("the blocking lock")
                .isFalse();
        assertThat(Thread.interrupted()).isFalse();
        store.client.close().block(LIMIT);
        other.client.close().block(LIMIT);
        assertThat(other.backend.contents()).isEmpty();
    }
}
