package io.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;

/**
 * An unguarded critical section that notices when more are in it than a lock should let in. Guard it by the lock under test,
 * then {@link #verify()}. Thread-safe.
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
     * A section for one at a time.
     *
     * @return a new probe
     */
    public static ExclusionProbe exclusive() {
        return new ExclusionProbe(1);
    }

    /**
     * A section for several at a time.
     *
     * @param permits how many
     * @return a new probe
     */
    public static ExclusionProbe of(int permits) {
        return new ExclusionProbe(permits);
    }

    /**
     * Somebody enters.
     *
     * @param token its fencing token
     */
    public void enter(long token) {
        int now = inside.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        tokens.add(token);
    }

    /** Somebody leaves. */
    public void exit() {
        inside.decrementAndGet();
    }

    /**
     * Does the work inside the section: entered on subscription, left before the end of the work is signalled.
     *
     * @param token the fencing token
     * @param work the work
     * @param <T> its result
     * @return cold
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
     * How many were inside at once, at most.
     *
     * @return the highest number so far
     */
    public int mostAtOnce() {
        return most.get();
    }

    /**
     * How often the section was entered.
     *
     * @return the number of entries so far
     */
    public int entries() {
        return tokens.size();
    }

    /**
     * The tokens of those that entered.
     *
     * @return in the order of entry
     */
    public List<Long> tokens() {
        return List.copyOf(tokens);
    }

    /**
     * Fails when too many were inside at once, or, in an exclusive section, when a token was not higher than the one before.
     *
     * @throws AssertionError then
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
