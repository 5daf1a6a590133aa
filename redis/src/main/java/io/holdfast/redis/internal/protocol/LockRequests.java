package io.holdfast.redis.internal.protocol;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.JoinedCalls;
import io.holdfast.redis.internal.script.KeysAndArgs;
import io.holdfast.redis.internal.script.ScriptArgs;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The requests of one client about its locks: the script of each operation, its KEYS and ARGV, and the meaning of the
 * numbers in its reply.
 */
public final class LockRequests {

    /** How long the tombstone of a withdrawn claim waits for an attempt of that claim that may still be under way. */
    private static final String TOMBSTONE_MILLIS = "30000";

    private static final String NO_TOMBSTONE = "0";

    /** A hundred years: the end of a longer lease would not fit into the record. */
    private static final long LONGEST_LEASE_MILLIS = 100L * 365 * 24 * 3_600_000;

    /** The bytes of a claim with a name of usual length, in a renewal. */
    private static final int RENEWAL_BYTES = 128;

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    private final LockScripts.Texts ofMutex;
    private final LockScripts.Texts ofShared;
    private final String keyPrefix;
    private final String claimMillis;
    private final QueueLimit limit;
    private final Function<RedisURI, String> ownChannel;
    private final boolean isCluster;
    private final UnansweredClaims unanswered = new UnansweredClaims();

    /**
     * Makes the requests of one client.
     *
     * @param tokensKept how long the last token of a free lock is kept, in whole seconds
     * @param limit how many may wait for one lock
     * @param ownChannel the name of the channel that the client has at a server
     * @param isCluster whether a script must name each key that it uses: else it could run while some of them move to
     *     another master
     */
    public LockRequests(
            String keyPrefix,
            Duration claimTime,
            Duration tokensKept,
            QueueLimit limit,
            Function<RedisURI, String> ownChannel,
            boolean isCluster) {
        ofMutex = LockScripts.MUTEX.keeping(tokensKept);
        ofShared = LockScripts.SHARED.keeping(tokensKept);
        this.keyPrefix = keyPrefix;
        claimMillis = Long.toString(claimTime.toMillis());
        this.limit = limit;
        this.ownChannel = ownChannel;
        this.isCluster = isCluster;
    }

    /**
     * Makes an attempt.
     *
     * @param recipient knows the channel for a grant, and notes the answer before it is passed on
     */
    public ScriptRequest<LockAttempt> acquire(LockClaim claim, GrantRecipient recipient) {
        LockKeys keys = keysOf(claim);
        return new ScriptRequest<>(
                texts(LockScripts.of(keys.type())).acquire(),
                keys.holder(),
                keys.type() == LockKeys.Type.MUTEX
                        ? new MutexAcquire(this, claim, keys, recipient)
                        : (to, server) -> writeSharedAcquire(claim, keys, recipient.channelAt(server), recipient, to),
                3,
                reply -> attempt(claim, keys, recipient, reply),
                () -> keys.subject("acquire"),
                () -> unanswered.add(claim.id()));
    }

    private LockScripts.Texts texts(LockScripts sort) {
        return sort == LockScripts.MUTEX ? ofMutex : ofShared;
    }

    private record MutexAcquire(LockRequests requests, LockClaim claim, LockKeys keys, GrantRecipient recipient)
            implements JoinedCalls.Operation {

        @Override
        public void write(ScriptArgs to, RedisURI server) {
            requests.writeKeys(keys, to);
            writeArgs(to, server);
        }

        @Override
        public void writeArgs(ScriptArgs to, RedisURI server) {
            String channel = recipient.channelAt(server);
            String secret = channel.isEmpty() ? "" : recipient.secret();
            long lease = leaseMillis(claim);
            to.text(claim.id());
            to.begin().part(acquire()).part(lease).end();
            to.begin()
                    .part(claim.attempt())
                    .part(' ')
                    .part(lease)
                    .part(' ')
                    .part(channel)
                    .end();
            to.begin()
                    .part(requests.word(claim.waiting()))
                    .part(' ')
                    .part(claim.tokenFloor())
                    .part(' ')
                    .part(requests.claimMillis)
                    .part(' ')
                    .part(secret)
                    .end();
        }

        /** Returns the word of the operation: a first attempt has a shorter one. */
        private char acquire() {
            if (claim.attempt() > 1) {
                return 'a';
            }
            return claim.tokenFloor() == 0 ? 'A' : 'T';
        }
    }

    private record MutexRelease(
            LockRequests requests, LockKeys keys, String id, int attempt, String tombstoneMillis, boolean isUnanswered)
            implements JoinedCalls.Operation {

        @Override
        public void write(ScriptArgs to, RedisURI server) {
            requests.writeKeys(keys, to);
            writeArgs(to, server);
        }

        @Override
        public void writeArgs(ScriptArgs to, RedisURI server) {
            to.text(id);
            to.begin().part(isUnanswered ? 'r' : 'R').part(attempt).end();
            to.text(requests.ownChannel.apply(server));
            to.begin()
                    .part(requests.claimMillis)
                    .part(' ')
                    .part(tombstoneMillis)
                    .end();
        }
    }

    private void writeKeys(LockKeys mutex, ScriptArgs to) {
        if (isCluster) {
            mutex.writeAllOfMutex(to);
        } else {
            mutex.writeRecord(to);
        }
    }

    private void writeSharedAcquire(
            LockClaim claim, LockKeys keys, String channel, GrantRecipient recipient, ScriptArgs to) {
        keys.writeAllOfShared(claim.id(), to);
        to.text(claim.id())
                .number(leaseMillis(claim))
                .number(claim.attempt())
                .text(word(claim.waiting()))
                .number(claim.tokenFloor())
                .text(claimMillis)
                .text(channel)
                .text(word(claim))
                .number(claim.key().permits())
                .text(channel.isEmpty() ? "" : recipient.secret());
    }

    private String word(Waiting waiting) {
        return switch (waiting) {
            case NONE -> "none";
            case NOTIFY -> "notify";
            case QUEUE -> limit.word();
        };
    }

    private static String word(LockClaim claim) {
        String kind = word(claim.key().kind());
        return claim.permits() == 1 ? kind : kind + ':' + claim.permits();
    }

    private static String word(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ -> "read";
            case WRITE -> "write";
            case SEMAPHORE -> "semaphore";
        };
    }

    private LockAttempt attempt(LockClaim claim, LockKeys keys, GrantRecipient recipient, long[] reply) {
        if (QueueLimit.isMet(reply)) {
            recipient.refused();
            throw limit.refusal(keys.lockName(), reply[1]);
        }
        return recipient.answered(Replies.attempt(reply, leaseMillis(claim)));
    }

    /** Makes one request for all claims, which have the same scripts: see {@link RenewalBatch}. */
    public ScriptRequest<List<Renewal>> renew(List<LockClaim> claims) {
        return renewal(claims, (to, server) -> writeRenewal(claims, to), () -> subjectOfRenewal(claims));
    }

    /** Makes a request that renews the claim of another process, if it holds the lock with this token. */
    public ScriptRequest<List<Renewal>> adopt(LockClaim claim, long fencingToken) {
        List<LockClaim> claims = List.of(claim);
        return renewal(
                claims,
                (to, server) -> {
                    writeRenewal(claims, to);
                    to.number(fencingToken);
                },
                () -> keysOf(claim).subject("adopt"));
    }

    private ScriptRequest<List<Renewal>> renewal(
            List<LockClaim> claims, KeysAndArgs arguments, Supplier<ExceptionTranslator.Subject> subject) {
        return new ScriptRequest<>(
                texts(LockScripts.of(claims.get(0))).renew(),
                holderKey(claims.get(0)),
                arguments,
                claims.size(),
                reply -> renewed(claims, reply),
                subject,
                LockRequests::nothing);
    }

    private void writeRenewal(List<LockClaim> claims, ScriptArgs to) {
        to.reserve(claims.size() * RENEWAL_BYTES);
        to.number((long) claims.size() * keysOf(claims.get(0)).renewedCount());
        for (LockClaim claim : claims) {
            keysOf(claim).writeRenewed(to);
        }
        for (LockClaim claim : claims) {
            to.text(claim.id()).number(leaseMillis(claim));
        }
    }

    private static List<Renewal> renewed(List<LockClaim> claims, long[] reply) {
        boolean[] held = Replies.yesOrNo(reply, claims.size());
        List<Renewal> answers = new ArrayList<>(held.length);
        for (int i = 0; i < held.length; i++) {
            // The request had whole milliseconds, so the server promises no more.
            Duration lease = Duration.ofMillis(leaseMillis(claims.get(i)));
            answers.add(held[i] ? new Renewal.Held(lease) : NOT_HELD);
        }
        return answers;
    }

    private ExceptionTranslator.Subject subjectOfRenewal(List<LockClaim> claims) {
        return claims.size() == 1
                ? keysOf(claims.get(0)).subject("renew")
                : new ExceptionTranslator.Subject("", "renew %d locks".formatted(claims.size()));
    }

    public ScriptRequest<Ownership> release(LockClaim claim) {
        return release(keysOf(claim), claim.id(), claim.attempt(), TOMBSTONE_MILLIS);
    }

    /**
     * Releases a grant whose claim does not wait any more. Often that claim was released already and the push comes
     * late, so this release leaves no tombstone.
     */
    public ScriptRequest<Ownership> giveBack(LockKeys keys, String claimId, int attempt) {
        return release(keys, claimId, attempt, NO_TOMBSTONE);
    }

    /**
     * Takes a lock away from its holder, for an operator. Later attempts of the holder's claim get nothing. Otherwise
     * the client of a Redlock would restore the hold at this server before the operator has broken it at the other
     * masters.
     */
    public ScriptRequest<Ownership> breakHold(LockKeys keys, String claimId) {
        return release(keys, claimId, Integer.MAX_VALUE, TOMBSTONE_MILLIS);
    }

    private ScriptRequest<Ownership> release(LockKeys keys, String id, int attempt, String tombstoneMillis) {
        boolean isUnanswered = unanswered.contains(id);
        return new ScriptRequest<>(
                texts(LockScripts.of(keys.type())).release(),
                keys.holder(),
                keys.type() == LockKeys.Type.MUTEX
                        ? new MutexRelease(this, keys, id, attempt, tombstoneMillis, isUnanswered)
                        : (to, server) -> {
                            keys.writeAllOfShared(id, to);
                            to.text(id)
                                    .number(attempt)
                                    .text(claimMillis)
                                    .text(tombstoneMillis)
                                    .text(isUnanswered ? "1" : "0")
                                    .text(ownChannel.apply(server));
                        },
                1,
                reply -> ended(id, reply),
                () -> keys.subject("release"),
                LockRequests::nothing);
    }

    private Ownership ended(String id, long[] reply) {
        boolean hasEnded = Replies.yesOrNo(reply, 1)[0];
        unanswered.remove(id);
        return hasEnded ? Ownership.HELD : Ownership.NOT_HELD;
    }

    /** Returns what a message says of a failure that concerns this claim. */
    public ExceptionTranslator.Subject subject(String verb, LockClaim claim) {
        return keysOf(claim).subject(verb);
    }

    /** Returns the key by which a renewal of this claim is put together with others. */
    public String holderKey(LockClaim claim) {
        return keysOf(claim).holder();
    }

    private LockKeys keysOf(LockClaim claim) {
        return LockKeys.of(keyPrefix, claim.key());
    }

    /** Returns the lease in the request and in the answer: a longer lease becomes the longest one. */
    private static long leaseMillis(LockClaim claim) {
        return Math.min(claim.lease().toMillis(), LONGEST_LEASE_MILLIS);
    }

    private static void nothing() {}
}
