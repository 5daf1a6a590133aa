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
     * The next requests meet these faults, one each; those after them what was said before.
     *
     * @param faults in order, after those already planned
     */
    public void next(Fault... faults) {
        next.addAll(List.of(faults));
    }

    /**
     * Every request meets this fault, once the planned ones are used up.
     *
     * @param fault the fault
     */
    public void always(Fault fault) {
        requireNonNull(fault, "fault");
        otherwise = () -> fault;
    }

    /**
     * Some requests meet a fault, by chance that can be repeated.
     *
     * @param seed of the random numbers
     * @param share of the requests, from 0 to 1
     * @param faults one of these, each as likely
     */
    public void sometimes(long seed, double share, Fault... faults) {
        Fault[] choices = faults.clone();
        Random random = new Random(seed);
        otherwise = () -> random.nextDouble() < share ? choices[random.nextInt(choices.length)] : Fault.none();
    }

    /** No more faults. */
    public void none() {
        next.clear();
        otherwise = Fault::none;
    }

    /**
     * How many requests were sent.
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
