package io.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;

/**
 * Assertions on one lock; {@link TestLocks#assertThat} gives them. If there are a mutex, a read/write lock and a
 * semaphore of that name, the assertions cover all of them. Each method checks the present state, and throws an
 * {@link AssertionError} that describes it.
 */
public final class LockAssert {

    private final TestStore store;
    private final String name;

    LockAssert(TestStore store, String name) {
        this.store = store;
        this.name = name;
    }

    /**
     * Asserts that neither the code under test nor a rival holds the lock at the back end.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert isFree() {
        return check(store.holders(name).isEmpty(), "to be free");
    }

    /**
     * Asserts that the code under test holds the lock at the back end. A frozen hold does not count.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert isHeld() {
        return check(store.isHeldByCode(name), "to be held by the code under test");
    }

    /**
     * Asserts how many acquisitions of the code under test wait for the lock.
     *
     * @param count the number of waiters
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert waiters(int count) {
        return check(store.waiters(name) == count, "to have %s".formatted(TestStore.counted(count, "waiter")));
    }

    /**
     * Asserts how often the code under test was granted the lock since the test began. Grants to rivals do not count,
     * and a nested acquisition is no grant.
     *
     * @param count the number of grants
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert grants(int count) {
        return check(
                store.grants(name).size() == count,
                "to have been granted %s to the code under test".formatted(TestStore.counted(count, "time")));
    }

    /**
     * Asserts that the resource under the lock has accepted no write of a former owner after a write of a later owner.
     * The resource, or the stub in its place, reports each accepted write: {@link TestLocks#wrote}.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert tokensRise() {
        List<Long> tokens = store.written(name);
        if (tokens.isEmpty()) {
            throw new AssertionError(
                    "no write under lock '%s' was noted: let the resource of your test call wrote(\"%s\", token) for each write that it accepts"
                            .formatted(name, name));
        }
        for (int i = 1; i < tokens.size(); i++) {
            if (tokens.get(i) < tokens.get(i - 1)) {
                throw new AssertionError(
                        "lock '%s': a write with token %d was accepted after one with token %d; the accepted tokens are, in this order, %s. A former owner has overwritten the data of a later one: the resource has to refuse it by its token"
                                .formatted(name, tokens.get(i), tokens.get(i - 1), tokens));
            }
        }
        return this;
    }

    private LockAssert check(boolean isTrue, String expected) {
        if (!isTrue) {
            throw new AssertionError("expected lock '%s' %s, but %s".formatted(name, expected, store.describe(name)));
        }
        return this;
    }
}
