package io.holdfast.proof.hostile;

import io.holdfast.spi.ForwardingLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Renewal.Held;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What can be wrong on purpose, to see that a campaign finds it. */
enum Flaw {
    /** Nothing. */
    NONE,
    /** Servers of a Redlock that come back empty vote at once. */
    NO_QUARANTINE,
    /** Clients believe three times as long as the back end has answered. */
    LONG_BELIEF,
    /** Writers in PostgreSQL do not ask the fence. */
    NO_FENCE,
    /** Clients of one Redis believe grants that nobody has signed: see {@link TrustedGrants}. */
    TRUSTED_GRANTS;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Flaw parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    /** The back end as a client with this flaw sees it. */
    LockBackend on(LockBackend sound) {
        return this == LONG_BELIEF ? new LongBelief(sound) : sound;
    }

    /** Answers with longer leases than the store has given. */
    private record LongBelief(LockBackend delegate) implements ForwardingLockBackend {

        @Override
        public Mono<LockAttempt> tryAcquire(LockClaim claim) {
            return delegate.tryAcquire(claim)
                    .map(attempt -> attempt instanceof Acquired acquired
                            ? new Acquired(acquired.fencingToken(), longer(acquired.lease()))
                            : attempt);
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return delegate.renew(claim).map(LongBelief::longer);
        }

        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return delegate.renewAll(claims).map(LongBelief::longer);
        }

        private static Renewal longer(Renewal renewal) {
            return renewal instanceof Held held ? new Held(longer(held.lease())) : renewal;
        }

        private static Duration longer(Duration lease) {
            return lease.multipliedBy(3);
        }
    }
}
