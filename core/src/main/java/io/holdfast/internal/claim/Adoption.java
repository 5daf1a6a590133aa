package io.holdfast.internal.claim;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.Renewal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import reactor.core.publisher.Mono;

/** Behind {@code adopt}: an acquisition with the claim of another process, which sends {@code adopt} for an attempt. */
public final class Adoption {

    private final LockSettings lock;
    private final ExportedLease exported;

    Adoption(LockSettings lock, ExportedLease exported) {
        this.lock = lock;
        this.exported = exported;
    }

    public static Mono<LockLease> of(Engine engine, LockOptions defaults, String text) {
        return Mono.defer(() -> {
            if (!engine.has(LockFeature.HAND_ON)) {
                return Mono.error(unsupported(engine));
            }
            ExportedLease lease = ExportedLease.of(text);
            engine.require(lease.claim().key().kind());
            Adoption adoption = new Adoption(settings(engine, defaults, lease), lease);
            if (engine.keptClaims.contains(lease.claim().id())) {
                // This client releases the claim when its least hold time is over, also if another lease has it by
                // then.
                return Mono.error(adoption.lost(
                        LossReason.NOT_HELD,
                        "this client has released it, and keeps the lock only for the rest of its least hold time"));
            }
            return adoption.lease()
                    .switchIfEmpty(Mono.error(() -> adoption.lost(
                            LossReason.NOT_HELD, "its claim did not hold it any more when it was adopted")));
        });
    }

    private static LockSettings settings(Engine engine, LockOptions defaults, ExportedLease lease) {
        Duration duration = lease.claim().lease();
        LockOptions.Builder options =
                defaults.toBuilder().leaseDuration(duration).noMinHoldTime();
        if (lease.minHoldNanos() > 0) {
            options = options.minHoldTime(
                    Duration.ofNanos(lease.minHoldNanos()).plusMillis(1).truncatedTo(ChronoUnit.MILLIS));
        }
        return LockSettings.of(engine, lease.claim().key(), lease.claim().permits(), options.build());
    }

    static UnsupportedOperationException unsupported(Engine engine) {
        return engine.unsupported("hand a lease on to another process (with LocalHandOver, none can)");
    }

    LockLostException lost(LossReason reason, String why) {
        return new LockLostException(lock.name(), reason, exported.fencingToken(), why, null);
    }

    LockClaim claim() {
        return exported.claim().withLease(lock.terms().claimLease());
    }

    /** Keeps the number of the exporter's last attempt: the release carries it. */
    Mono<LockAttempt> ask(LockClaim claim) {
        return lock.engine().backend.adopt(claim, exported.fencingToken()).flatMap(this::attempt);
    }

    private Mono<LockAttempt> attempt(Renewal answer) {
        if (answer instanceof Renewal.Unknown unknown) {
            return Mono.error(unknown.failure());
        }
        return Mono.just(
                answer instanceof Renewal.Held held
                        ? new LockAttempt.Acquired(exported.fencingToken(), held.lease())
                        : new LockAttempt.Contended(lock.options().leaseDuration()));
    }

    Mono<LockLease> lease() {
        return Emission.mono(subscriber -> new Claim(lock, Mode.TRY, this, false, subscriber).emission);
    }
}
