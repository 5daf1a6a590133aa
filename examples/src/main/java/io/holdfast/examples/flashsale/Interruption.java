package io.holdfast.examples.flashsale;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handles Ctrl-C: interrupts the thread that runs the sale. The JVM then waits until that thread has ended the child processes, and deleted
 * the keys in a user's server and the files of ZooKeeper.
 */
final class Interruption {

    private static final int PATIENCE_SECONDS = 10;

    private final CountDownLatch ended = new CountDownLatch(1);

    private Interruption() {}

    static Interruption ofThisThread() {
        Interruption interruption = new Interruption();
        Thread running = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> interruption.interrupt(running), "interruption"));
        return interruption;
    }

    /** Reports that the sale has ended by itself, and that everything is closed. */
    void isNotNeeded() {
        ended.countDown();
    }

    private void interrupt(Thread running) {
        if (ended.getCount() == 0) {
            return;
        }
        running.interrupt();
        try {
            boolean unused = ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
