package io.holdfast.r2dbc.internal.protocol;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.support.Printable;
import java.util.Locale;

/**
 * One request for one claim.
 *
 * @param verb the kind of request
 * @param claim the claim
 * @param isWatched whether the claim can be notified of a grant on the channel of this client
 * @param token with which the claim must hold the lock, for a renewal that adopts it from another process; else 0
 */
public record Operation(Verb verb, LockClaim claim, boolean isWatched, long token) {

    /** A hundred years: the end of a longer lease may not fit into a timestamp. */
    private static final long LONGEST_LEASE_MILLIS = 100L * 365 * 24 * 3_600_000;

    /** The kind of request. */
    public enum Verb {
        /** Takes the lock, or a place in the queue. */
        ACQUIRE,
        /** Extends the lease. */
        RENEW,
        /** Renews a claim that was never granted. The answer is a sign of life. */
        PING,
        /** Ends the claim. */
        RELEASE
    }

    /** Makes any request but an adoption. */
    public Operation(Verb verb, LockClaim claim, boolean isWatched) {
        this(verb, claim, isWatched, 0);
    }

    public long leaseMillis() {
        return Math.min(claim.lease().toMillis(), LONGEST_LEASE_MILLIS);
    }

    public String word() {
        return switch (verb) {
            case ACQUIRE -> claim.waiting().name().toLowerCase(Locale.ROOT);
            case RELEASE -> "release";
            case RENEW, PING -> "renew";
        };
    }

    /** Returns the lock name for a message; empty for a ping. */
    public String lockName() {
        return verb == Verb.PING ? "" : claim.key().name();
    }

    /** Returns the beginning of a message. */
    public String subject() {
        if (verb == Verb.PING) {
            return "ping";
        }
        String act = switch (verb) {
            case ACQUIRE -> "acquire";
            case RENEW, PING -> token == 0 ? "renew" : "adopt";
            case RELEASE -> "release";
        };
        return "%s %s '%s'"
                .formatted(act, kindWord(), Printable.text(claim.key().name()));
    }

    private String kindWord() {
        return switch (claim.key().kind()) {
            case MUTEX -> "lock";
            case READ -> "read lock";
            case WRITE -> "write lock";
            case SEMAPHORE -> "semaphore";
        };
    }
}
