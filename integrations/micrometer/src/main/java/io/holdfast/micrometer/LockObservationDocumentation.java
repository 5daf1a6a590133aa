package io.holdfast.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of {@link ObservedLocks}, with their defaults: a {@link LockObservationConvention} may change names and key values. */
public enum LockObservationDocumentation implements ObservationDocumentation {
    /** One {@code acquire}, {@code tryAcquire} or {@code withLock}. */
    LOCK;

    /** The key values of meters and spans. */
    public enum LowCardinality implements KeyName {
        /** The name of the back end, such as {@code redis}. */
        BACKEND("backend"),
        /** The family of the lock: one of few, see {@link LockFamilies}. */
        FAMILY("lock.family"),
        /** A {@link io.holdfast.LockKind} in small letters, or {@code several} for locks that are taken together. */
        KIND("lock.kind"),
        /** A {@link LockObservationContext.Operation} in small letters. */
        OPERATION("operation"),
        /** A {@link LockObservationContext.Outcome} in small letters. */
        OUTCOME("outcome");

        private final String text;

        LowCardinality(String text) {
            this.text = text;
        }

        @Override
        public String asString() {
            return text;
        }
    }

    /** The key values of spans only. */
    public enum HighCardinality implements KeyName {
        /** The name of the lock; for locks that are taken together, their names, separated by commas. */
        NAME("lock.name", true),
        /** The token of the lease, as soon as there is one. */
        FENCING_TOKEN("lock.fencing.token", false);

        private final String text;
        private final boolean required;

        HighCardinality(String text, boolean required) {
            this.text = text;
            this.required = required;
        }

        @Override
        public String asString() {
            return text;
        }

        @Override
        public boolean isRequired() {
            return required;
        }
    }

    /** The events during an observation. */
    public enum Event implements Observation.Event {
        /** The work under a lock begins. */
        ACQUIRED("acquired", "lock acquired");

        private final String name;
        private final String contextualName;

        Event(String name, String contextualName) {
            this.name = name;
            this.contextualName = contextualName;
        }

        @Override
        public String getName() {
            return name;
        }

        @Override
        public String getContextualName() {
            return contextualName;
        }
    }

    /**
     * Returns the convention of the name and the key values.
     *
     * @return the convention whose methods are the defaults
     */
    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
        return LockObservationConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinality.values();
    }

    @Override
    public Observation.Event[] getEvents() {
        return Event.values();
    }
}
