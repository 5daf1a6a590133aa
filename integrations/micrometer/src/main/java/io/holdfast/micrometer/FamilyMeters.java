package io.holdfast.micrometer;

import static io.holdfast.micrometer.LockMeterDocumentation.ABANDONED;
import static io.holdfast.micrometer.LockMeterDocumentation.ATTEMPT_FAILURES;
import static io.holdfast.micrometer.LockMeterDocumentation.HELD;
import static io.holdfast.micrometer.LockMeterDocumentation.HOLD;
import static io.holdfast.micrometer.LockMeterDocumentation.LOSSES;
import static io.holdfast.micrometer.LockMeterDocumentation.RENEWAL_FAILURES;
import static io.holdfast.micrometer.LockMeterDocumentation.TIMEOUTS;
import static io.holdfast.micrometer.LockMeterDocumentation.UNCONFIRMED;
import static io.holdfast.micrometer.LockMeterDocumentation.WAIT;
import static io.holdfast.micrometer.LockMeterDocumentation.WAITING;
import static java.util.Objects.requireNonNull;

import io.holdfast.LockClosedException;
import io.holdfast.LockEvent;
import io.holdfast.LockTimeoutException;
import io.holdfast.LossReason;
import io.holdfast.micrometer.LockMeterDocumentation.TagName;
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

/** The meters of the locks of one family and kind. All are registered at once, so each exists with the value zero before it is needed. */
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
    private final Counter attemptFailures;
    private final Counter renewalFailures;

    FamilyMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        waits = each(Wait.class, it -> timer(WAIT, it));
        holds = each(Hold.class, it -> timer(HOLD, it));
        losses = each(LossReason.class, it -> counter(LOSSES, tags.and(TagName.REASON.asString(), value(it))));
        unconfirmed =
                each(Unconfirmed.class, it -> counter(UNCONFIRMED, tags.and(TagName.OPERATION.asString(), value(it))));
        timeouts = counter(TIMEOUTS, tags);
        abandoned = counter(ABANDONED, tags);
        attemptFailures = counter(ATTEMPT_FAILURES, tags);
        renewalFailures = counter(RENEWAL_FAILURES, tags);
        gauge(WAITING, waiting);
        gauge(HELD, held);
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
        } else if (event instanceof LockEvent.AttemptFailed) {
            attemptFailures.increment();
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

    private Timer timer(LockMeterDocumentation meter, Enum<?> outcome) {
        return Timer.builder(meter.getName())
                .description(meter.getDescription())
                .tags(tags.and(TagName.OUTCOME.asString(), value(outcome)))
                .register(registry);
    }

    private Counter counter(LockMeterDocumentation meter, Tags with) {
        return Counter.builder(meter.getName())
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
                .tags(with)
                .register(registry);
    }

    private void gauge(LockMeterDocumentation meter, LongAdder value) {
        Gauge unused = Gauge.builder(meter.getName(), value, LongAdder::sum)
                .description(meter.getDescription())
                .baseUnit(meter.getBaseUnit())
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

    static String value(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
