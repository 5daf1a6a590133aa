package io.holdfast.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

/**
 * The meters that {@link LockMetrics} registers. All have the tags {@link TagName#BACKEND}, {@link TagName#FAMILY} and {@link TagName#KIND}. If the name of a
 * counter ends with its unit, Prometheus does not repeat the unit: {@code holdfast_lock_losses_total}.
 */
public enum LockMeterDocumentation implements MeterDocumentation {
    /** The time from the subscription to the end of the wait, by outcome. */
    WAIT("wait", Meter.Type.TIMER, "seconds", "Time from the subscription to the end of the wait", TagName.OUTCOME),
    /** The time from getting a lease to its end, by outcome. */
    HOLD("hold", Meter.Type.TIMER, "seconds", "Time from getting a lease to its end", TagName.OUTCOME),
    /** How many acquisitions wait now. */
    WAITING("waiting", Meter.Type.GAUGE, "waiters", "Acquisitions that wait now"),
    /** How many leases are held now. */
    HELD("held", Meter.Type.GAUGE, "leases", "Leases that are held now"),
    /** How many acquisitions ended by {@code waitTimeout}. */
    TIMEOUTS("timeouts", Meter.Type.COUNTER, "timeouts", "Acquisitions that ended by waitTimeout"),
    /** How many leases ended before their work did, by reason. */
    LOSSES("losses", Meter.Type.COUNTER, "losses", "Leases that ended before their work did", TagName.REASON),
    /** How many leases the program dropped without a release. The garbage collector found them. */
    ABANDONED(
            "abandoned",
            Meter.Type.COUNTER,
            "leases",
            "Leases that the program dropped without a release; the garbage collector found them"),
    /** How many attempts to acquire failed. */
    ATTEMPT_FAILURES("attempt.failures", Meter.Type.COUNTER, "failures", "Attempts to acquire that failed"),
    /** How many renewals failed with an unknown outcome. */
    RENEWAL_FAILURES("renewal.failures", Meter.Type.COUNTER, "failures", "Renewals whose outcome is unknown"),
    /** How many releases and withdrawals the back end did not confirm, by operation. */
    UNCONFIRMED(
            "unconfirmed",
            Meter.Type.COUNTER,
            "requests",
            "Releases and withdrawals that the back end did not confirm",
            TagName.OPERATION);

    /** The tags of the meters. */
    public enum TagName implements KeyName {
        /** The name of the back end, such as {@code redis}. */
        BACKEND("backend"),
        /** The family of the lock: one of few, see {@link LockFamilies}. */
        FAMILY("lock.family"),
        /** The kind of the lock: a {@link io.holdfast.LockKind} in small letters. */
        KIND("lock.kind"),
        /** How a wait or a hold ended. */
        OUTCOME("outcome"),
        /** Why a lease was lost: a {@link io.holdfast.LossReason} in small letters. */
        REASON("reason"),
        /** Which request was not confirmed. */
        OPERATION("operation");

        private final String text;

        TagName(String text) {
            this.text = text;
        }

        @Override
        public String asString() {
            return text;
        }
    }

    private final String name;
    private final Meter.Type type;
    private final String unit;
    private final String description;
    private final @Nullable TagName further;

    LockMeterDocumentation(String name, Meter.Type type, String unit, String description) {
        this(name, type, unit, description, null);
    }

    LockMeterDocumentation(String name, Meter.Type type, String unit, String description, @Nullable TagName further) {
        this.name = "holdfast.lock." + name;
        this.type = type;
        this.unit = unit;
        this.description = description;
        this.further = further;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Meter.Type getType() {
        return type;
    }

    /**
     * Returns the base unit of the meter.
     *
     * @return the base unit; a registry may measure time in another unit
     */
    @Override
    public String getBaseUnit() {
        return unit;
    }

    /**
     * Returns the tags of the meter.
     *
     * @return the names of all tags, without those that the application adds
     */
    @Override
    public KeyName[] getKeyNames() {
        return further == null
                ? new KeyName[] {TagName.BACKEND, TagName.FAMILY, TagName.KIND}
                : new KeyName[] {TagName.BACKEND, TagName.FAMILY, TagName.KIND, further};
    }

    /**
     * Returns what the meter measures.
     *
     * @return the description of the meter in the registry
     */
    public String getDescription() {
        return description;
    }
}
