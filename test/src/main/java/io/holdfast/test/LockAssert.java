package io.holdfast.test;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.List;

/**
 * What a test says of one lock; from {@link TestLocks#assertThat}. If there are a mutex, a read/write lock and a semaphore of that name, it is about all of
 * them. Each method looks at this instant, and throws an {@link AssertionError} that says what there is instead.
 */
public final class LockAssert {

    private final TestStore store;
    private final String name;

    LockAssert(TestStore store, String name) {
        this.store = store;
        this.name = name;
    }

    /**
     * Neither the code under test nor a rival holds it at the store.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert isFree() {
        return check(store.holders(name).isEmpty(), "to be free");
    }

    /**
     * The code under test holds it at the store. A frozen hold is not there any more.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert isHeld() {
        return check(store.isHeldByCode(name), "to be held by the code under test");
    }

    /**
     * So many acquisitions of the code under test wait for it.
     *
     * @param count the number of waiters
     * @return this
     */
    @CanIgnoreReturnValue
    public LockAssert waiters(int count) {
        return check(store.waiters(name) == count, "to have %s".formatted(TestStore.counted(count, "waiter")));
    }

    /**
     * The code under test was granted it so many times since the test began. Rivals do not count, and a nested acquisition is no grant.
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
     * The resource that the lock guards has accepted no write of a former owner after one of a later owner. The resource, or the stub in its place,
     * tells of each write that it accepts: {@link TestLocks#wrote}.
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
                        "lock '%s': a write with token %d was accepted after one with token %d; accepted were, in this order, %s. A former owner has overwritten what a later one wrote: the resource has to refuse it by its token"
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
