package io.holdfast.redis;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongConsumer;

/** What one client asks about its locks: the script of each operation, its KEYS and ARGV, and what its numbers mean. */
final class LockRequests {

    /** How long the trace of a withdrawn claim waits for a look of it that may still be under way. */
    private static final String TOMBSTONE_MILLIS = "30000";

    private static final String NO_TOMBSTONE = "0";

    private static final Renewal NOT_HELD = new Renewal.NotHeld();

    private final String keyPrefix;
    private final String claimMillis;
    private final Function<CommandLink, String> ownChannel;
    private final UnansweredClaims unanswered = new UnansweredClaims();

    /**
     * Requests of one client.
     *
     * @param ownChannel the name of the channel that the client has at a server
     */
    LockRequests(String keyPrefix, Duration claimTime, Function<CommandLink, String> ownChannel) {
        LockScripts.readAll();
        this.keyPrefix = keyPrefix;
        claimMillis = Long.toString(claimTime.toMillis());
        this.ownChannel = ownChannel;
    }

    /**
     * A look.
     *
     * @param channel where the claim can be told, by the server that the look is sent to; empty when it has to poll
     * @param hasToWait told before the answer is passed on that the lock is not available: in how many ms it is looked for again
     */
    ScriptCall.Request<LockAttempt> acquire(
            LockClaim claim, Function<CommandLink, String> channel, LongConsumer hasToWait) {
        LockKeys keys = keysOf(claim);
        return new ScriptCall.Request<>(
                LockScripts.of(keys.type()).acquire(),
                keys.holder(),
                (to, link) -> writeAcquire(claim, keys, channel.apply(link), to),
                3,
                reply -> attempt(reply, hasToWait),
                () -> RedisFailures.Subject.of("acquire", keys),
                () -> unanswered.add(claim.id()));
    }

    private void writeAcquire(LockClaim claim, LockKeys keys, String channel, ScriptArgs to) {
        keys.writeAll(claim.id(), to);
        to.text(claim.id())
                .number(claim.lease().toMillis())
                .number(claim.attempt())
                .text(word(claim.waiting()))
                .number(claim.tokenFloor())
                .text(claimMillis)
                .text(channel);
        if (keys.type() != LockKeys.Type.MUTEX) {
            to.text(word(claim.key().kind())).number(claim.key().permits());
        }
    }

    private static String word(Waiting waiting) {
        return switch (waiting) {
            case NONE -> "none";
            case NOTIFY -> "notify";
            case QUEUE -> "queue";
        };
    }

    private static String word(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ -> "read";
            case WRITE -> "write";
            case SEMAPHORE -> "semaphore";
        };
    }

    private static LockAttempt attempt(long[] reply, LongConsumer hasToWait) {
        if (reply[0] == 1) {
            return new LockAttempt.Acquired(reply[1], Duration.ofMillis(reply[2]));
        }
        hasToWait.accept(reply[1]);
        Duration lookAgainWithin = Duration.ofMillis(reply[1]);
        return reply[0] == 2 ? new LockAttempt.Queued(lookAgainWithin) : new LockAttempt.Contended(lookAgainWithin);
    }

    /** One request for all of them, which have the same scripts: see {@link RenewalBatch}. */
    ScriptCall.Request<List<Renewal>> renew(List<LockClaim> claims) {
        List<String> keys = new ArrayList<>(claims.size());
        List<String> args = new ArrayList<>(2 * claims.size());
        for (LockClaim claim : claims) {
            keys.addAll(keysOf(claim).renewed());
            args.add(claim.id());
            args.add(Long.toString(claim.lease().toMillis()));
        }
        return new ScriptCall.Request<>(
                LockScripts.of(claims.get(0)).renew(),
                keys.get(0),
                ScriptCall.Body.of(keys, args),
                claims.size(),
                reply -> renewed(claims, reply),
                () -> subjectOfRenewal(claims),
                LockRequests::nothing);
    }

    private static List<Renewal> renewed(List<LockClaim> claims, long[] reply) {
        List<Renewal> answers = new ArrayList<>(reply.length);
        for (int i = 0; i < reply.length; i++) {
            // Whole milliseconds were sent, so no more is promised.
            Duration lease = Duration.ofMillis(claims.get(i).lease().toMillis());
            answers.add(reply[i] == 1 ? new Renewal.Held(lease) : NOT_HELD);
        }
        return answers;
    }

    private RedisFailures.Subject subjectOfRenewal(List<LockClaim> claims) {
        return claims.size() == 1
                ? RedisFailures.Subject.of("renew", keysOf(claims.get(0)))
                : new RedisFailures.Subject("", "renew %d locks".formatted(claims.size()));
    }

    ScriptCall.Request<Ownership> release(LockClaim claim) {
        return release(keysOf(claim), claim.id(), claim.attempt(), TOMBSTONE_MILLIS);
    }

    /** For a grant that nobody waits for. Often it was released already and the push comes late: so without a tombstone. */
    ScriptCall.Request<Ownership> giveBack(LockKeys keys, String claimId, int attempt) {
        return release(keys, claimId, attempt, NO_TOMBSTONE);
    }

    private ScriptCall.Request<Ownership> release(LockKeys keys, String id, int attempt, String tombstoneMillis) {
        String isUnknown = unanswered.contains(id) ? "1" : "0";
        return new ScriptCall.Request<>(
                LockScripts.of(keys.type()).release(),
                keys.holder(),
                (to, link) -> {
                    keys.writeAll(id, to);
                    to.text(id)
                            .number(attempt)
                            .text(claimMillis)
                            .text(tombstoneMillis)
                            .text(isUnknown)
                            .text(ownChannel.apply(link));
                },
                1,
                reply -> ended(id, reply),
                () -> RedisFailures.Subject.of("release", keys),
                LockRequests::nothing);
    }

    private Ownership ended(String id, long[] reply) {
        unanswered.remove(id);
        return reply[0] == 1 ? Ownership.HELD : Ownership.NOT_HELD;
    }

    /** What is said of a failure that concerns this claim. */
    RedisFailures.Subject subject(String verb, LockClaim claim) {
        return RedisFailures.Subject.of(verb, keysOf(claim));
    }

    /** The key by which a renewal of this claim is put together with others. */
    String holderKey(LockClaim claim) {
        return keysOf(claim).holder();
    }

    private LockKeys keysOf(LockClaim claim) {
        return LockKeys.of(keyPrefix, claim.key());
    }

    private static void nothing() {}
}
