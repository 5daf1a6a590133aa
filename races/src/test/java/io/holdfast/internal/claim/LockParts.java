package io.holdfast.internal.claim;

import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.Events;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.internal.engine.LockTerms.Mode;
import io.holdfast.internal.engine.Randomness;
import io.holdfast.races.HandStore;
import io.holdfast.races.HandTimer;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import reactor.core.publisher.Flux;

/** The parts of one client, for a race about one of them. */
public final class LockParts {

    private static final LockOptions OPTIONS = LockOptions.builder()
            .leaseDuration(Duration.ofSeconds(30))
            .autoRenew(false)
            .build();

    public final HandTimer timer = new HandTimer();
    public final HandStore store = new HandStore();
    public final Engine engine =
            new Engine(store, timer, null, new Events(null), null, Engine.NO_LIMIT, Randomness.ofSystem(), "");
    public final LockSettings settings = LockSettings.of(engine, LockKey.of(LockKind.MUTEX, "a"), 1, OPTIONS);
    public final LockClaim claim = settings.newClaim(Mode.WAIT);

    LockBackend watchedBy(Flux<WatchSignal> signals) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return store;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim watched) {
                return signals;
            }
        };
    }
}
