package io.holdfast.testkit;

import io.holdfast.spi.LockFeature;
import java.util.function.Predicate;

/** Something that a back end, or its test class, may lack. The tests that need it are then no tests of that back end. */
enum Need {
    FIFO(LockFeature.FIFO),
    READ_WRITE(LockFeature.READ_WRITE),
    SEMAPHORE(LockFeature.SEMAPHORE),
    MANY_PERMITS(LockFeature.MANY_PERMITS),
    TOKEN_FLOOR(LockFeature.TOKEN_FLOOR),
    MIN_HOLD(LockFeature.MIN_HOLD),
    HOLDERS(LockFeature.HOLDERS),
    HAND_ON(LockFeature.HAND_ON),
    DOWNGRADE(LockFeature.DOWNGRADE),
    PUSHES(LockBackendUnderTest::pushesGrants),
    SIGNALS(LockBackendUnderTest::signalsChanges),
    INSPECTOR(it -> it.inspector() != null),
    COUNTED_WORK(it -> it.serverWork() >= 0),
    WAITER_LIMIT(it -> it.clientWithLimit(QueueAtWork.SHORT) != null);

    private final Predicate<LockBackendUnderTest> isMet;

    Need(LockFeature feature) {
        this(it -> it.backend().features().contains(feature));
    }

    Need(Predicate<LockBackendUnderTest> isMet) {
        this.isMet = isMet;
    }

    boolean isMetBy(LockBackendUnderTest store) {
        return isMet.test(store);
    }
}
