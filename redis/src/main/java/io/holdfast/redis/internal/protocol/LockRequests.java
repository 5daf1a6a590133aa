package io.holdfast.redis.internal.protocol;

import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.JoinedCalls;
import io.holdfast.redis.internal.script.KeysAndArgs;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptArgs;
import io.holdfast.redis.internal.script.ScriptReply;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.RecentClaims;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one client about its locks: the script of each operation, its KEYS and ARGV, and the meaning of the
 * numbers in its reply.
 */
public final class LockRequests {

    /** How long the tombstone of a withdrawn claim waits for an attempt of that claim that may still be under way. */
    private static final String TOMBSTONE_MILLIS = "30000";

    private static final String NO_TOMBSTONE = "0";

    /** Stands for a channel, a client or a secret that is not there. */
    private static final String NONE = "-";

    /** A hundred years: the end of a longer lease would not fit into the record. */
    private static final long LONGEST_LEASE_MILLIS = 100L * 365 * 24 * 3_600_000;

    /** The bytes of a claim with a name of usual length, in a renewal. */
    private static final int RENEWAL_BYTES = 128;

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    private final LockScripts scripts;
    private final String keyPrefix;
    private final String claimMillis;
    private final QueueLimit limit;
    private final Function<RedisURI, String> ownChannel;
    private final Consumer<ChannelMessage> granted;
    private final boolean isCluster;

    /**
     * The claims with an attempt that was sent and never answered: it may still reach the server, even after the release of
     * the claim. Only the release of such a claim leaves a tombstone.
     */
    private final RecentClaims<Boolean> unanswered = new RecentClaims<>(16_384);

    /**
     * Makes the requests of one client.
     *
     * @param tokensKept how long the last token of a free lock is kept, in whole seconds
     * @param limit how many may wait for one lock
     * @param ownChannel the name of the channel that the client has at a server; empty for none
     * @param granted receives the grant in the answer to what ended a hold
     * @param isCluster whether a script must name each key that it uses: else it could run while some of them move to
     *     another master
     */
    public LockRequests(
            String keyPrefix,
            Duration claimTime,
            Duration tokensKept,
            QueueLimit limit,
            Function<RedisURI, String> ownChannel,
            Consumer<ChannelMessage> granted,
            boolean isCluster) {
        scripts = LockScripts.keeping(tokensKept);
        this.keyPrefix = keyPrefix;
        claimMillis = Long.toString(claimTime.toMillis());
        this.limit = limit;
        this.ownChannel = ownChannel;
        this.granted = granted;
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
                scripts.lock(),
                keys.holder(),
                new Attempt(this, claim, keys, recipient),
                ReplyDecoder.ofReply(reply -> attempt(claim, keys, recipient, reply)),
                () -> keys.subject("acquire"),
                () -> unanswered.add(claim.id(), true));
    }

    /** An operation of {@code lock.lua}. */
    private interface LockOperation extends JoinedCalls.Operation {

        LockRequests requests();

        LockKeys keys();

        @Override
        default void write(ScriptArgs to, RedisURI server) {
            if (requests().isCluster) {
                keys().writeAll(to);
            } else {
                keys().writeRecord(to);
            }
            writeArgs(to, server);
        }

        @Override
        default @Nullable KeysAndArgs ofFirstKey() {
            return keys().type() == LockReport.Type.MUTEX
                    ? (to, server) -> {
                        keys().writeRecordAlone(to);
                        writeArgs(to, server);
                    }
                    : null;
        }
    }

    private record Attempt(LockRequests requests, LockClaim claim, LockKeys keys, GrantRecipient recipient)
            implements LockOperation {

        @Override
        public void writeArgs(ScriptArgs to, RedisURI server) {
            String channel = recipient.channelAt(server);
            boolean isWatched = !channel.isEmpty();
            // A waiter whose client has no channel could not serve a run. A reader may have been a member of one.
            boolean isOfItsClient = isWatched || claim.key().kind() == LockKind.READ;
            long lease = leaseMillis(claim);
            to.text(claim.id());
            to.begin().part(acquire()).part(lease).end();
            to.begin()
                    .part(claim.attempt())
                    .part(' ')
                    .part(lease)
                    .part(' ')
                    .part(orNone(channel))
                    .part(' ')
                    .part(isOfItsClient ? orNone(claim.client()) : NONE)
                    .end();
            to.begin()
                    .part(requests.word(claim.waiting()))
                    .part(' ')
                    .part(claim.tokenFloor())
                    .part(' ')
                    .part(requests.claimMillis)
                    .part(' ')
                    .part(isWatched ? recipient.secret() : NONE)
                    .part(word(claim))
                    .end();
        }

        /** Returns the word of the operation: a first attempt has a shorter way. */
        private char acquire() {
            boolean wantsAll = LockKeys.isExclusive(claim.key());
            if (claim.attempt() > 1) {
                return wantsAll ? 'a' : 's';
            } else if (claim.tokenFloor() > 0) {
                return wantsAll ? 'T' : 'U';
            }
            return wantsAll ? 'A' : 'S';
        }
    }

    /**
     * Any other operation but a renewal, see {@code lock.lua}.
     *
     * @param id of the claim, or of the client whose run ends
     * @param rest what only this operation has; empty for nothing
     */
    private record OtherOperation(
            LockRequests requests, LockKeys keys, String id, char word, long number, String head, String rest)
            implements LockOperation {

        @Override
        public void writeArgs(ScriptArgs to, RedisURI server) {
            to.text(id);
            to.begin().part(word).part(number).end();
            to.text(orNone(requests.ownChannel.apply(server)));
            to.begin().part(head).part(rest).end();
        }
    }

    private static String orNone(String text) {
        return text.isEmpty() ? NONE : text;
    }

    private String word(Waiting waiting) {
        return switch (waiting) {
            case NONE -> "none";
            case NOTIFY -> "notify";
            case QUEUE -> limit.word();
        };
    }

    /** Returns the share that the claim wants; empty for all. */
    private static String word(LockClaim claim) {
        return switch (claim.key().kind()) {
            case MUTEX, WRITE -> "";
            case READ -> " read";
            case SEMAPHORE ->
                " semaphore:" + claim.permits() + '/' + claim.key().permits();
        };
    }

    private LockAttempt attempt(LockClaim claim, LockKeys keys, GrantRecipient recipient, ScriptReply reply) {
        if (QueueLimit.isMet(reply.numbers())) {
            recipient.refused();
            throw limit.refusal(keys.lockName(), reply.numbers()[1]);
        }
        return recipient.answered(keys.holder(), Replies.attempt(reply, leaseMillis(claim)));
    }

    /** Makes one request for all claims. */
    public ScriptRequest<List<Renewal>> renew(List<LockClaim> claims) {
        return new ScriptRequest<>(
                scripts.renew(),
                holderKey(claims.get(0)),
                (to, server) -> writeRenewal(claims, to),
                ReplyDecoder.ofNumbers(claims.size(), reply -> renewed(claims, reply)),
                () -> subjectOfRenewal(claims),
                LockRequests::nothing);
    }

    /** Makes a request that renews the claim of another process, if it holds the lock with this token. */
    public ScriptRequest<Renewal> adopt(LockClaim claim, long fencingToken) {
        LockKeys keys = keysOf(claim);
        return new ScriptRequest<>(
                scripts.lock(),
                keys.holder(),
                new OtherOperation(this, keys, claim.id(), 'D', fencingToken, "", Long.toString(leaseMillis(claim))),
                ReplyDecoder.ofNumbers(
                        1, reply -> renewed(List.of(claim), reply).get(0)),
                () -> keys.subject("adopt"),
                LockRequests::nothing);
    }

    private void writeRenewal(List<LockClaim> claims, ScriptArgs to) {
        to.reserve(claims.size() * RENEWAL_BYTES);
        to.number(claims.stream()
                .mapToLong(claim -> LockKeys.isExclusive(claim.key()) ? 1 : 2)
                .sum());
        claims.forEach(claim -> keysOf(claim).writeRenewed(to, claim.key()));
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

    /** Takes a lock away from its holder, for an operator. Later attempts of the holder's claim get nothing. */
    public ScriptRequest<Ownership> breakHold(LockKeys keys, String claimId) {
        return ended(keys, claimId, new OtherOperation(this, keys, claimId, 'B', 0, claimMillis, ""), "break");
    }

    private ScriptRequest<Ownership> release(LockKeys keys, String id, int attempt, String tombstoneMillis) {
        char word = unanswered.contains(id) ? 'r' : 'R';
        return ended(
                keys,
                id,
                new OtherOperation(this, keys, id, word, attempt, claimMillis, ' ' + tombstoneMillis),
                "release");
    }

    private ScriptRequest<Ownership> ended(LockKeys keys, String id, KeysAndArgs arguments, String verb) {
        return new ScriptRequest<>(
                scripts.lock(),
                keys.holder(),
                arguments,
                ReplyDecoder.ofReply(reply -> ended(keys, id, reply)),
                () -> keys.subject(verb),
                LockRequests::nothing);
    }

    private Ownership ended(LockKeys keys, String id, ScriptReply reply) {
        boolean hasEnded = Replies.hasEnded(reply);
        unanswered.remove(id);
        ChannelMessage grant = Replies.grantIn(reply, keys);
        if (grant != null) {
            granted.accept(grant);
        }
        return hasEnded ? Ownership.HELD : Ownership.NOT_HELD;
    }

    /** Ends a run, see {@code LockBackend.endRun}. */
    public ScriptRequest<LockRun.End> endRun(LockClaim claim, long number, int served) {
        LockKeys keys = keysOf(claim);
        return new ScriptRequest<>(
                scripts.lock(),
                keys.holder(),
                new OtherOperation(
                        this, keys, orNone(claim.client()), 'E', number, claimMillis, " " + Math.max(0, served)),
                ReplyDecoder.ofReply(reply -> end(keys, reply)),
                () -> keys.subject("end a run of"),
                LockRequests::nothing);
    }

    private LockRun.End end(LockKeys keys, ScriptReply reply) {
        Ownership ownership = Replies.hasEnded(reply) ? Ownership.HELD : Ownership.NOT_HELD;
        ChannelMessage grant = Replies.grantIn(reply, keys);
        if (grant != null && grant.signal() instanceof WatchSignal.GrantedRun next) {
            return new LockRun.End(ownership, Optional.of(new LockAttempt.AcquiredRun(next.run(), next.lease())));
        } else if (grant != null) {
            granted.accept(grant);
        }
        return new LockRun.End(ownership, Optional.empty());
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
