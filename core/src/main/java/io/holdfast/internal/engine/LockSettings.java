package io.holdfast.internal.engine;

import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;

/** A lock's name and options, checked against its client. Each of its leases takes that many permits. */
public record LockSettings(Engine engine, LockKey key, int permits, LockTerms terms) {

    public static LockSettings of(Engine engine, LockKey key, int permits, LockOptions options) {
        return new LockSettings(engine, key, permits, LockTerms.of(engine, options));
    }

    public LockSettings with(LockOptions other) {
        return of(engine, key, permits, other);
    }

    public LockSettings withPermits(int taken) {
        if (taken < 1 || taken > key.permits()) {
            throw new IllegalArgumentException(
                    "a lease of semaphore '%s' takes at least 1 and at most %d permits, not %d"
                            .formatted(Printable.text(key.name()), key.permits(), taken));
        }
        if (taken > 1) {
            engine.require(
                    LockFeature.MANY_PERMITS,
                    "give %d permits of semaphore '%s' to one lease, only one"
                            .formatted(taken, Printable.text(key.name())));
        }
        return new LockSettings(engine, key, taken, terms);
    }

    public String name() {
        return key.name();
    }

    public LockOptions options() {
        return terms.options();
    }

    public long operationNanos() {
        return terms.operationNanos();
    }

    public LockClaim newClaim(Mode mode) {
        Waiting waiting = mode == Mode.WAIT ? Waiting.QUEUE : Waiting.NONE;
        // A reader ends runs of writers, and its grant shows that.
        boolean concernsRuns = mode == Mode.WAIT && key.kind() != LockKind.SEMAPHORE && terms.minHoldNanos() == 0;
        String client = concernsRuns ? engine.client : "";
        return new LockClaim(key, engine.ids.next(), terms.claimLease(), waiting, 1, 0, permits, client);
    }

    /** Returns until when the server may keep a lock for a request that is in flight now. */
    public long storeForgetsAtNanos() {
        return engine.alarms.now() + terms.claimLease().toNanos() + operationNanos();
    }
}
