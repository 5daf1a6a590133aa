package io.holdfast.testkit;

import io.holdfast.LockInspector;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.memory.MemoryWork;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.Collection;
import java.util.function.UnaryOperator;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * The contract of a back end that is wrong on purpose. Its name does not end with Test, so that only the mutants' test
 * runs it.
 */
final class MutatedMemory implements LockBackendContract {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final LockBackend mutant;
    private final LockInspector inspector;

    MutatedMemory(UnaryOperator<LockBackend> mutation, UnaryOperator<LockInspector> inspection) {
        mutant = mutation.apply(store);
        inspector = inspection.apply(store.inspector());
    }

    @Override
    public LockInspector inspector() {
        return inspector;
    }

    @Override
    public LockBackend backend() {
        return mutant;
    }

    @Override
    public LockBackend anotherClient() {
        return mutant;
    }

    @Override
    public long serverWork() {
        return MemoryWork.of(store);
    }

    @Override
    public void passTime(Duration time) {
        clock.advanceTimeBy(time);
    }

    @Override
    public Collection<String> leftovers() {
        return store.contents();
    }

    /** A mutant lets many a test wait in vain. */
    @Override
    public Duration patience() {
        return mutant == store ? Duration.ofSeconds(10) : Duration.ofMillis(300);
    }
}
