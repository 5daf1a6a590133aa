package io.holdfast.blocking;

import io.netty.channel.EventLoop;
import io.netty.util.internal.ThreadExecutorMap;
import reactor.core.scheduler.Schedulers;

/** Finds threads that must not block. */
final class MustNotBlock {

    /** Loaded with the first question; fails if the application has no Netty. */
    private static final class Netty {

        /** Also true on the event loops of Vert.x, and not on its workers. */
        static boolean isEventLoop() {
            return ThreadExecutorMap.currentExecutor() instanceof EventLoop;
        }
    }

    /** Written by any thread that finds out. */
    private static volatile boolean hasNetty = true;

    private MustNotBlock() {}

    static boolean isHere() {
        return Schedulers.isInNonBlockingThread() || isEventLoop();
    }

    /** @throws IllegalStateException on a thread that must not block */
    static void here(Object lock) {
        if (isHere()) {
            throw new IllegalStateException(
                    "%s was not asked: thread '%s' must not block. Use the reactive LockClient there, or call on a thread that may block"
                            .formatted(lock, Thread.currentThread().getName()));
        }
    }

    private static boolean isEventLoop() {
        try {
            return hasNetty && Netty.isEventLoop();
        } catch (LinkageError absent) {
            hasNetty = false;
            return false;
        }
    }
}
