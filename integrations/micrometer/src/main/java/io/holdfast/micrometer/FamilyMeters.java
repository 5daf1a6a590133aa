package io.holdfast.micrometer;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/** The meters of one lock family. All are registered at once, so that each exists with zero before it is needed. */
final class FamilyMeters {

    private enum Wait {
        ACQUIRED,
        NOT_AVAILABLE,
        TIMEOUT,
        CANCELLED,
        CLOSED,
        FAILED
    }

    private enum Hold {
        RELEASED,
        UNCONFIRMED,
        LOST,
        HANDED_ON,
        ABANDONED
    }

    private enum Unconfirmed {
        RELEASE,
        WITHDRAWAL
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final LongAdder waiting = new LongAdder();
    private final LongAdder held = new LongAdder();
    private final Map<Wait, Timer> waits;
    private final Map<Hold, Timer> holds;
    private final Map<LossReason, Counter> losses;
    private final Map<Unconfirmed, Counter> unconfirmed;
    private final Counter timeouts;
    private final Counter abandoned;
    private final Counter lookFailures;
    private final Counter renewalFailures;

    FamilyMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        waits = each(Wait.class, it -> timer("wait", "From asking for a lock to the end of the wait", it));
        holds = each(Hold.class, it -> timer("hold", "From getting a lock to its end", it));
        losses = each(LossReason.class, it -> counter("losses", "Leases that were lost", "reason", it));
        unconfirmed = each(
                Unconfirmed.class, it -> counter("unconfirmed", "What the store did not confirm", "operation", it));
        timeouts = counter("timeouts", "Acquisitions that waited too long", tags);
        abandoned = counter("abandoned", "Leases that were dropped without a release", tags);
        lookFailures = counter("look.failures", "Requests for a lock that failed", tags);
        renewalFailures = counter("renewal.failures", "Renewals of unknown outcome", tags);
        gauge("waiting", "Acquisitions under way", waiting);
        gauge("held", "Leases held", held);
    }

    void count(LockEvent event) {
        if (event instanceof LockEvent.AcquireStarted) {
            waiting.increment();
        } else if (event instanceof LockEvent.Acquired e) {
            held.increment();
            waited(Wait.ACQUIRED, e.waited());
        } else if (event instanceof LockEvent.NotAvailable e) {
            waited(Wait.NOT_AVAILABLE, e.waited());
        } else if (event instanceof LockEvent.AcquireCancelled e) {
            waited(Wait.CANCELLED, e.waited());
        } else if (event instanceof LockEvent.AcquireFailed e) {
            waited(outcome(e.error()), e.waited());
        } else if (event instanceof LockEvent.LookFailed) {
            lookFailures.increment();
        } else if (event instanceof LockEvent.WithdrawalUnconfirmed) {
            of(unconfirmed, Unconfirmed.WITHDRAWAL).increment();
        } else {
            countOfLease(event);
        }
    }

    private void countOfLease(LockEvent event) {
        if (event instanceof LockEvent.Released e) {
            held(Hold.RELEASED, e.held());
        } else if (event instanceof LockEvent.ReleaseUnconfirmed e) {
            of(unconfirmed, Unconfirmed.RELEASE).increment();
            held(Hold.UNCONFIRMED, e.held());
        } else if (event instanceof LockEvent.Lost e) {
            of(losses, e.reason()).increment();
            held(Hold.LOST, e.held());
        } else if (event instanceof LockEvent.HandedOn e) {
            held(Hold.HANDED_ON, e.held());
        } else if (event instanceof LockEvent.LeaseAbandoned e) {
            abandoned.increment();
            held(Hold.ABANDONED, e.held());
        } else if (event instanceof LockEvent.RenewalFailed) {
            renewalFailures.increment();
        }
    }

    private void waited(Wait outcome, Duration time) {
        waiting.decrement();
        if (outcome == Wait.TIMEOUT) {
            timeouts.increment();
        }
        of(waits, outcome).record(time);
    }

    private void held(Hold outcome, Duration time) {
        held.decrement();
        of(holds, outcome).record(time);
    }

    private static Wait outcome(Throwable error) {
        if (error instanceof LockTimeoutException) {
            return Wait.TIMEOUT;
        }
        return error instanceof LockClosedException ? Wait.CLOSED : Wait.FAILED;
    }

    private Timer timer(String name, String description, Enum<?> outcome) {
        return Timer.builder("holdfast.lock." + name)
                .description(description)
                .tags(tags.and("outcome", value(outcome)))
                .register(registry);
    }

    private Counter counter(String name, String description, String key, Enum<?> value) {
        return counter(name, description, tags.and(key, value(value)));
    }

    private Counter counter(String name, String description, Tags with) {
        return Counter.builder("holdfast.lock." + name)
                .description(description)
                .tags(with)
                .register(registry);
    }

    private void gauge(String name, String description, LongAdder value) {
        Gauge unused = Gauge.builder("holdfast.lock." + name, value, LongAdder::sum)
                .description(description)
                .tags(tags)
                .register(registry);
    }

    private static <K extends Enum<K>, M> Map<K, M> each(Class<K> keys, Function<K, M> meter) {
        Map<K, M> meters = new EnumMap<>(keys);
        for (K key : keys.getEnumConstants()) {
            meters.put(key, meter.apply(key));
        }
        return meters;
    }

    private static <K, M> M of(Map<K, M> meters, K key) {
        return requireNonNull(meters.get(key));
    }

    private static String value(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
