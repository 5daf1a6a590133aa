package io.holdfast.testkit;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** The faults of one operation of a {@link FaultyLockBackend}, and how often it was called. Thread-safe. */
public final class FaultProgram {

    private final AtomicInteger calls = new AtomicInteger();
    private final Queue<Fault> next = new ConcurrentLinkedQueue<>();

    /** Written by the test. */
    private volatile Supplier<Fault> otherwise = Fault::none;

    FaultProgram() {}

    /**
     * Plans faults for the next requests, one for each; later requests meet the fault of {@link #always} or
     * {@link #sometimes}.
     *
     * @param faults in order, after those already planned
     */
    public void next(Fault... faults) {
        next.addAll(List.of(faults));
    }

    /**
     * Sets the fault of every request after the planned ones.
     *
     * @param fault the fault
     */
    public void always(Fault fault) {
        requireNonNull(fault, "fault");
        otherwise = () -> fault;
    }

    /**
     * Sets random faults for some of the requests; the randomness is repeatable.
     *
     * @param seed the seed of the random numbers
     * @param share the share of the requests, from 0 to 1
     * @param faults the faults; each is as likely as the others
     */
    public void sometimes(long seed, double share, Fault... faults) {
        Fault[] choices = faults.clone();
        Random random = new Random(seed);
        otherwise = () -> random.nextDouble() < share ? choices[random.nextInt(choices.length)] : Fault.none();
    }

    /** Removes all faults. */
    public void none() {
        next.clear();
        otherwise = Fault::none;
    }

    /**
     * Returns how many requests were sent.
     *
     * @return the number of subscriptions so far
     */
    public int calls() {
        return calls.get();
    }

    Fault take() {
        calls.incrementAndGet();
        Fault planned = next.poll();
        return planned != null ? planned : otherwise.get();
    }
}
