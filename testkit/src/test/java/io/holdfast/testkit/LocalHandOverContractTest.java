package io.holdfast.testkit;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LocalHandOver;
import io.holdfast.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import reactor.test.scheduler.VirtualTimeScheduler;

/** All that is asked of a back end is asked of one that hands over, between the claims of one process and between two. */
class LocalHandOverContractTest implements LockBackendContract {

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(clock);
    private final LockBackend backend =
            LocalHandOver.builder(store).clock(clock).build();
    private final LockBackend another =
            LocalHandOver.builder(store).clock(clock).build();

    @Override
    public LockBackend backend() {
        return backend;
    }

    @Override
    public LockBackend anotherClient() {
        return another;
    }

    @Override
    public void passTime(Duration time) {
        clock.advanceTimeBy(time);
    }

    @Override
    public Collection<String> leftovers() {
        List<String> left = new ArrayList<>(store.contents());
        if (!backend.toString().equals("LocalHandOver[%s]".formatted(store))) {
            left.add(backend.toString());
        }
        return left;
    }
}
