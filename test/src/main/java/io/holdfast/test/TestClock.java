package io.holdfast.test;

import reactor.test.scheduler.VirtualTimeScheduler;

/** Virtual time that lasts for several tests: Reactor disposes its schedulers at the end of each. */
final class TestClock extends VirtualTimeScheduler {

    TestClock() {
        super(false);
    }

    /** Does nothing: tasks that are due when the extension ends are garbage with it. */
    @Override
    public void dispose() {}
}
