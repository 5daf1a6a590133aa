package io.holdfast.blocking;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockLostException;
import io.holdfast.LockTimeoutException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@link LockRegistry} for Spring Integration, whose locks are those of a client: for an aggregator, a resequencer, a
 * leader initiator. A key is the end of a lock name: for the prefix {@code orders/} and the key 42, the lock is
 * {@code orders/42} of {@link LockClient#lock}.
 *
 * <p>The locks are re-entrant, and a thread unlocks what it has locked. The client renews the leases. A loss does not
 * interrupt the thread that holds the lock: its {@link Lock#unlock()} throws {@link LockLostException}. With a
 * {@link io.holdfast.LockOptions#waitTimeout()}, {@code lock()} fails with {@link LockTimeoutException} when the wait is
 * over, and {@code tryLock} returns false. There are no conditions.
 */
public final class HoldfastLockRegistry implements LockRegistry<Lock> {

    private final BlockingLocks locks;
    private final String prefix;

    /** The leases that the thread has to close, the last one first. */
    private final ThreadLocal<Deque<BlockingLease>> ofThread = ThreadLocal.withInitial(ArrayDeque::new);

    private HoldfastLockRegistry(BlockingLocks locks, String prefix) {
        this.locks = locks;
        this.prefix = prefix;
    }

    /**
     * Makes a registry. Sends nothing.
     *
     * @param locks the locks of a client
     * @param prefix the beginning of all names, such as {@code orders/}
     * @return a registry
     */
    public static HoldfastLockRegistry of(BlockingLocks locks, String prefix) {
        return new HoldfastLockRegistry(requireNonNull(locks, "locks"), requireNonNull(prefix, "prefix"));
    }

    /**
     * Returns the lock of a key. Sends nothing.
     *
     * @param lockKey an object whose text is the same in each process, such as a string or a number
     * @return a lock
     * @throws IllegalArgumentException if the key has the text of {@link Object#toString}, as an array does
     */
    @Override
    public Lock obtain(Object lockKey) {
        String key = lockKey.toString();
        if (key.startsWith(lockKey.getClass().getName() + "@")) {
            throw new IllegalArgumentException(
                    "the key is a %s without a text of its own, so each object would have its own lock: take one of its properties"
                            .formatted(lockKey.getClass().getSimpleName()));
        }
        return new RegisteredLock((OneLock) locks.lock(prefix + key));
    }

    private final class RegisteredLock implements Lock {

        private final OneLock lock;

        RegisteredLock(OneLock lock) {
            this.lock = lock;
        }

        @Override
        public void lock() {
            ofThread.get().push(lock.acquireUninterruptibly());
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            ofThread.get().push(lock.acquire());
        }

        /** One attempt, which takes a round trip. An interrupt does not end it, and stays pending. */
        @Override
        public boolean tryLock() {
            return keep(lock.tryAcquireUninterruptibly());
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
            try {
                return keep(time > 0 ? lock.acquireWithin(unit.toNanos(time)) : lock.tryAcquire());
            } catch (LockTimeoutException over) {
                if (over.backendAnswered()) {
                    return false;
                }
                throw over;
            }
        }

        private boolean keep(Optional<BlockingLease> acquired) {
            acquired.ifPresent(ofThread.get()::push);
            return acquired.isPresent();
        }

        @Override
        public void unlock() {
            Deque<BlockingLease> all = ofThread.get();
            BlockingLease last = all.stream()
                    .filter(it -> it.lease().lockName().equals(lock.name()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalMonitorStateException(lock + " is not locked by this thread"));
            all.remove(last);
            if (all.isEmpty()) {
                ofThread.remove();
            }
            last.close();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException("a lock of many processes has no conditions");
        }

        @Override
        public String toString() {
            return lock.toString();
        }
    }
}
