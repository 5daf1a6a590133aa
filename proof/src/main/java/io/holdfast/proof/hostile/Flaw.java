package io.holdfast.proof.hostile;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockAttempt.Acquired;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Renewal.Held;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Defects on purpose, which show that a campaign finds them. */
enum Flaw {
    /** No defect. */
    NONE,
    /** Redlock masters that come back empty vote at once. */
    NO_QUARANTINE,
    /** Clients believe in a lease for three times the duration that the back end granted. */
    LONG_BELIEF,
    /** Writers in PostgreSQL do not check the fence. */
    NO_FENCE,
    /** Clients of one Redis believe grants without a valid signature: see {@link TrustedGrants}. */
    TRUSTED_GRANTS;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Flaw parse(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    /** Returns the back end as a client with this flaw sees it. */
    LockBackend on(LockBackend sound) {
        return this == LONG_BELIEF ? new LongBelief(sound) : sound;
    }

    /** Answers with longer leases than the back end has granted. */
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
