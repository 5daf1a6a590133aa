package io.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;

/**
 * An unguarded critical section that detects more owners inside than a lock should allow. Guard it with the lock under
 * test, then call {@link #verify()}. Thread-safe.
 */
public final class ExclusionProbe {

    private final int limit;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final ConcurrentLinkedQueue<Long> tokens = new ConcurrentLinkedQueue<>();

    private ExclusionProbe(int limit) {
        this.limit = limit;
    }

    /**
     * Returns a section for one owner at a time.
     *
     * @return a new probe
     */
    public static ExclusionProbe exclusive() {
        return new ExclusionProbe(1);
    }

    /**
     * Returns a section for several owners at a time.
     *
     * @param permits how many owners
     * @return a new probe
     */
    public static ExclusionProbe of(int permits) {
        return new ExclusionProbe(permits);
    }

    /**
     * Records that an owner enters.
     *
     * @param token the fencing token of the owner
     */
    public void enter(long token) {
        int now = inside.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        tokens.add(token);
    }

    /** Records that an owner leaves. */
    public void exit() {
        inside.decrementAndGet();
    }

    /**
     * Runs the work inside the section: enters on subscription, leaves before the end of the work is signalled.
     *
     * @param token the fencing token of the owner
     * @param work the work
     * @param <T> its result
     * @return a cold publisher
     */
    public <T> Mono<T> guard(long token, Mono<T> work) {
        return Mono.using(
                () -> {
                    enter(token);
                    return token;
                },
                entered -> work,
                entered -> exit());
    }

    /**
     * Returns the highest number of owners inside at once.
     *
     * @return the highest number so far
     */
    public int mostAtOnce() {
        return most.get();
    }

    /**
     * Returns how often owners entered the section.
     *
     * @return the number of entries so far
     */
    public int entries() {
        return tokens.size();
    }

    /**
     * Returns the tokens of the owners that entered.
     *
     * @return tokens in the order of entry
     */
    public List<Long> tokens() {
        return List.copyOf(tokens);
    }

    /**
     * Fails when too many owners were inside at once, or, in an exclusive section, when a token was not higher than the
     * one before.
     *
     * @throws AssertionError if it fails
     */
    public void verify() {
        if (mostAtOnce() > limit) {
            throw new AssertionError("%d were inside at once, allowed are %d; tokens in the order of entry: %s"
                    .formatted(mostAtOnce(), limit, tokens));
        }
        if (limit == 1) {
            verifyRising(new ArrayList<>(tokens));
        }
    }

    private static void verifyRising(List<Long> tokens) {
        for (int i = 1; i < tokens.size(); i++) {
            if (tokens.get(i) <= tokens.get(i - 1)) {
                throw new AssertionError("token %d came after %d".formatted(tokens.get(i), tokens.get(i - 1)));
            }
        }
    }
}
