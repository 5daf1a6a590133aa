package io.holdfast.testkit;

import io.holdfast.LockInspector;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.memory.MemoryWork;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.Collection;
import reactor.test.scheduler.VirtualTimeScheduler;

class InMemoryLockBackendContractTest implements LockBackendContract {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);

    @Override
    public LockBackend backend() {
        return store;
    }

    @Override
    public LockBackend anotherClient() {
        return store;
    }

    @Override
    public LockInspector inspector() {
        return store.inspector();
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
}
