package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Says how the client acquires and keeps a lock. {@link Builder} has each option with its default and its range.
 * Immutable; the builder checks all options together.
 */
public final class LockOptions {

    /** With a shorter lease, the safety margin (1 % and 2 ms) and a round trip leave no time to hold the lock. */
    private static final Duration LEAST_LEASE = Duration.ofMillis(10);

    private static final LockOptions DEFAULTS = new Builder().build();

    /** A copy that no caller can reach: it never changes. */
    private final Builder values;

    private LockOptions(Builder builder) {
        values = builder.copy();
    }

    /** {@return the default options, always the same instance} */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /** {@return a new builder with the defaults} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a new builder with these options} */
    public Builder toBuilder() {
        return values.copy();
    }

    /** {@return how long the server keeps the lock without a renewal; a back end with sessions keeps it otherwise} */
    public Duration leaseDuration() {
        return values.leaseDuration;
    }

    /** {@return how long {@code acquire} waits: zero for one attempt, empty for no limit} */
    public Optional<Duration> waitTimeout() {
        return values.waitTimeout;
    }

    /** {@return whether the client renews the lease while it is held} */
    public boolean autoRenew() {
        return values.autoRenew;
    }

    /** {@return how long a lease may be held in all, empty for no limit} */
    public Optional<Duration> maxHoldTime() {
        return values.maxHoldTime;
    }

    /** {@return how long the server keeps the lock at least, empty for no minimum} */
    public Optional<Duration> minHoldTime() {
        return values.minHoldTime;
    }

    /** {@return the pauses between attempts when no signal can arrive, and after failures} */
    public Backoff backoff() {
        return values.backoff;
    }

    /** {@return whether an acquisition inside the same lock gives a nested view} */
    public boolean reentrant() {
        return values.reentrant;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions that && values.all().equals(that.values.all());
    }

    @Override
    public int hashCode() {
        return values.all().hashCode();
    }

    @Override
    public String toString() {
        return "LockOptions[leaseDuration=%s, waitTimeout=%s, autoRenew=%s, maxHoldTime=%s, minHoldTime=%s, backoff=%s, reentrant=%s]"
                .formatted(values.all().stream()
                        .map(it -> it instanceof Optional<?> some
                                ? some.map(Object::toString).orElse("none")
                                : it)
                        .toArray());
    }

    /** Collects options. No duration may be longer than 366 days. Not thread-safe. */
    public static final class Builder {

        private Duration leaseDuration = Duration.ofSeconds(30);
        private Optional<Duration> waitTimeout = Optional.empty();
        private boolean autoRenew = true;
        private Optional<Duration> maxHoldTime = Optional.empty();
        private Optional<Duration> minHoldTime = Optional.empty();
        private Backoff backoff = Backoff.exponential(Duration.ofMillis(20), Duration.ofSeconds(1))
                .withJitter(0.5);
        private boolean reentrant = true;

        private Builder() {}

        private Builder copy() {
            Builder copy = new Builder();
            copy.leaseDuration = leaseDuration;
            copy.waitTimeout = waitTimeout;
            copy.autoRenew = autoRenew;
            copy.maxHoldTime = maxHoldTime;
            copy.minHoldTime = minHoldTime;
            copy.backoff = backoff;
            copy.reentrant = reentrant;
            return copy;
        }

        private List<Object> all() {
            return List.of(leaseDuration, waitTimeout, autoRenew, maxHoldTime, minHoldTime, backoff, reentrant);
        }

        /**
         * Sets how long the server keeps the lock without a renewal. After a crash of the holder, it is also the
         * longest time for which no other claim can get the lock. A back end with sessions keeps it otherwise: see its
         * class. The client renews at a third of it. At least three operation timeouts of the client must fit into it.
         *
         * @param lease at least 10 ms; default 30 s
         * @return this
         * @throws IllegalArgumentException if out of range
         */
        public Builder leaseDuration(Duration lease) {
            leaseDuration = Durations.atLeast(LEAST_LEASE, "leaseDuration", lease);
            return this;
        }

        /**
         * Sets how long {@code acquire} waits, from the subscription, connection and back-end time included.
         *
         * @param timeout {@link Duration#ZERO} for one attempt, else at least 1 ms; default none
         * @return this
         * @throws IllegalArgumentException if out of range
         */
        public Builder waitTimeout(Duration timeout) {
            waitTimeout = Optional.of(Durations.zeroOrAtLeastOneMilli("waitTimeout", "one attempt", timeout));
            return this;
        }

        /** {@return this; acquisitions wait without a limit, which is the default} */
        public Builder noWaitTimeout() {
            waitTimeout = Optional.empty();
            return this;
        }

        /**
         * Sets whether the client renews the lease while it is held. Without renewals, the lease ends after one lease
         * duration.
         *
         * @param renew default true
         * @return this
         */
        public Builder autoRenew(boolean renew) {
            autoRenew = renew;
            return this;
        }

        /**
         * Sets how long a lease may be held in all: a hard bound against work that never ends. At the limit, the lease
         * is lost with {@link LossReason#MAX_HOLD_TIME}, and the client releases the lock.
         *
         * @param limit at least the lease duration; default none
         * @return this
         * @throws IllegalArgumentException if out of range
         */
        public Builder maxHoldTime(Duration limit) {
            maxHoldTime = Optional.of(Durations.atLeastOneMilli("maxHoldTime", limit));
            return this;
        }

        /** {@return this; leases are held without a limit, which is the default} */
        public Builder noMaxHoldTime() {
            maxHoldTime = Optional.empty();
            return this;
        }

        /**
         * Sets how long the server keeps the lock at least, counted from the grant. The minimum also applies when the
         * work ends before, fails or is cancelled, when the lease is lost, and when the process crashes. Use it for
         * jobs that run once per cluster and per period, started by clocks that differ. Choose more than the clocks
         * differ, and less than the period.
         *
         * <p>Until then no other acquisition gets the lock, not even one of this client: {@code tryAcquire} is empty,
         * {@code acquire} waits. A release before that completes when the back end has confirmed that the claim still
         * holds the lock. The client releases the lock when the minimum is over. If the client is gone, the server
         * frees the lock by itself, at most one operation timeout after that. After a crash before the release, the
         * server frees the lock at the end of the lease. If the minimum lasts longer than the lease, that end is at
         * most 1 % and an operation timeout after the minimum.
         *
         * <p>A lock that was granted but never handed out is released at once. Nested leases end with the outermost
         * lease, and its options count. Each member of a {@link ReactiveMultiLock} has a minimum of its own.
         *
         * @param least at least 1 ms, at most {@code maxHoldTime}; default none. It needs a back end whose leases
         *     outlive their client, see {@link io.holdfast.spi.LockFeature#MIN_HOLD}
         * @return this
         * @throws IllegalArgumentException if out of range
         */
        public Builder minHoldTime(Duration least) {
            minHoldTime = Optional.of(Durations.atLeastOneMilli("minHoldTime", least));
            return this;
        }

        /** {@return this; each release frees the lock at once, which is the default} */
        public Builder noMinHoldTime() {
            minHoldTime = Optional.empty();
            return this;
        }

        /**
         * Sets the pauses between attempts when no signal can arrive, and after failures.
         *
         * @param pauses default exponential from 20 ms to 1 s with jitter 0.5
         * @return this
         */
        public Builder backoff(Backoff pauses) {
            backoff = requireNonNull(pauses, "backoff");
            return this;
        }

        /**
         * Sets the result of an acquisition inside {@code withLock} of the same lock: a nested view of the lease
         * (true), or an {@link IllegalStateException} (false), since it would wait for itself. A semaphore ignores this
         * option: each acquisition takes a permit of its own.
         *
         * @param allowed default true
         * @return this
         */
        public Builder reentrant(boolean allowed) {
            reentrant = allowed;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @return immutable options
         * @throws IllegalArgumentException if {@code maxHoldTime} is less than {@code leaseDuration} or {@code minHoldTime}
         */
        public LockOptions build() {
            maxHoldTime.ifPresent(limit -> {
                if (limit.compareTo(leaseDuration) < 0) {
                    throw new IllegalArgumentException(
                            "maxHoldTime must be at least leaseDuration, but maxHoldTime is %s and leaseDuration is %s: lengthen the first or shorten the second"
                                    .formatted(limit, leaseDuration));
                }
                minHoldTime.filter(least -> least.compareTo(limit) > 0).ifPresent(least -> {
                    throw new IllegalArgumentException(
                            "maxHoldTime must be at least minHoldTime, but maxHoldTime is %s and minHoldTime is %s"
                                    .formatted(limit, least));
                });
            });
            return new LockOptions(this);
        }
    }
}
