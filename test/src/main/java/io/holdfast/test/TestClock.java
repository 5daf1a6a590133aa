package io.holdfast.test;

import reactor.test.scheduler.VirtualTimeScheduler;

/** Virtual time that lasts for several tests: Reactor disposes of its schedulers at the end of each. */
final class TestClock extends VirtualTimeScheduler {

    TestClock() {
        super(false);
    }

    /** Does nothing: what is due when the extension ends is garbage with it. */
    @Override
    public void dispose() {}
}
