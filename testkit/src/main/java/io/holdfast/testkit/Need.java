package io.holdfast.testkit;

import io.holdfast.spi.LockFeature;

/** Something that a back end, or its test class, may lack. The tests that need it are then no tests of that back end. */
enum Need {
    FIFO,
    READ_WRITE,
    SEMAPHORE,
    MANY_PERMITS,
    TOKEN_FLOOR,
    MIN_HOLD,
    HOLDERS,
    HAND_ON,
    DOWNGRADE,
    RUNS,
    PUSHES,
    SIGNALS,
    INSPECTOR,
    COUNTED_WORK,
    WAITER_LIMIT;

    boolean isMetBy(LockBackendUnderTest store) {
        return switch (this) {
            case PUSHES -> store.pushesGrants();
            case SIGNALS -> store.signalsChanges();
            case INSPECTOR -> store.inspector() != null;
            case COUNTED_WORK -> store.serverWork() >= 0;
            case WAITER_LIMIT -> store.clientWithLimit(QueueAtWork.SHORT) != null;
            default -> store.backend().features().contains(LockFeature.valueOf(name()));
        };
    }
}
