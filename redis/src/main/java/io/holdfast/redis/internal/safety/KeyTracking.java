package io.holdfast.redis.internal.safety;

import io.holdfast.LockKind;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ConnectionInitializer;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.script.LongArrayOutput;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.script.ScriptArgs;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Uses {@code CLIENT TRACKING}: the server signals at once when another client changes the key of a mutex that is held
 * here. The client then reads which claim holds the mutex. If that is another claim, the engine gets a signal and
 * renews, and the answer decides. So no lease gets longer by what other clients do to its key.
 *
 * <p>The server watches a key for a connection that has read it, until the next change of the key, also by this client.
 * So after a grant, and after each renewal, the client reads the keys on the connection for the commands of locks. The
 * server does not signal the changes of that connection itself ({@code NOLOOP}).
 *
 * <p>The reading is a command of its own, behind {@code CLIENT CACHING YES} ({@code OPTIN}). If the scripts of the
 * locks did it, Redis 6.2 and 7.0 would remember <em>all</em> KEYS of a script that reads any (see {@code
 * trackingRememberKeys}). They would also remember the tombstone of each claim, which never changes, so the server's
 * table would grow with each acquisition. And they would remember the locks for which this client only waits.
 */
public final class KeyTracking implements ConnectionInitializer {

    private static final LuaScript SCRIPT = LuaScript.load("still_held");

    /** Keys in one command. */
    private static final int MOST_AT_ONCE = 500;

    /** The purpose of a reading. */
    private enum Purpose {
        /** To see whether the claim still holds. */
        VERIFY,
        /**
         * As {@link #VERIFY}. The server then watches the keys of claims that still hold: watching the others would be
         * useless.
         */
        VERIFY_AND_WATCH,
        /** To make the server watch the key. */
        WATCH
    }

    /** A mutex and the claim that holds it, as far as this client knows. */
    private record Held(String key, String claimId) {}

    private final Topology topology;
    private final LockRequests requests;
    private final LongSupplier nanoTime;
    private final Consumer<String> changed;

    /** By the key of the holder, from the grant until the release. */
    private final ConcurrentMap<String, TrackedKey> held = new ConcurrentHashMap<>();

    /**
     * Nothing is held yet.
     *
     * @param nanoTime the clock of the driver
     * @param changed receives the id of a claim that should renew or send an attempt
     */
    public KeyTracking(Topology topology, LockRequests requests, LongSupplier nanoTime, Consumer<String> changed) {
        this.topology = topology;
        this.requests = requests;
        this.nanoTime = nanoTime;
        this.changed = changed;
    }

    @Override
    public CompletableFuture<?> prepare(CommandLink link, StatefulRedisPubSubConnection<String, String> made) {
        PushListener invalidations = this::pushed;
        made.addListener(invalidations);
        made.addListener(new Restorations(link, made));
        return switchOn(made);
    }

    /**
     * Switches tracking on. It tries CACHING as well, so that a missing permission shows now; PING uses up the effect
     * of CACHING.
     */
    private static CompletableFuture<?> switchOn(StatefulRedisConnection<String, String> connection) {
        RedisAsyncCommands<String, String> async = connection.async();
        return async.clientTracking(TrackingArgs.Builder.enabled().optin().noloop())
                .toCompletableFuture()
                .thenCombine(async.clientCaching(true), (on, caching) -> on)
                .thenCombine(async.ping(), (on, pong) -> on);
    }

    /** An attempt was answered: tracks the key if the claim holds from now on. */
    public void attemptAnswered(LockClaim claim, LockAttempt answer) {
        if (answer instanceof LockAttempt.Acquired && claim.key().kind() == LockKind.MUTEX) {
            held.put(requests.holderKey(claim), tracked(claim, claim.attempt()));
            remind(List.of(claim));
        } else if (claim.key().kind() == LockKind.MUTEX && claim.waiting() != Waiting.NONE) {
            forgetLateGrant(claim);
            changedByUs(claim);
        }
    }

    private TrackedKey tracked(LockClaim claim, int attempt) {
        return TrackedKey.of(claim.id(), attempt, claim.lease().toNanos(), nanoTime.getAsLong());
    }

    /** The claim has to wait after a grant that came too late. A grant that overtook this answer still counts. */
    private void forgetLateGrant(LockClaim attempt) {
        held.computeIfPresent(
                requests.holderKey(attempt),
                (key, known) ->
                        known.claimId().equals(attempt.id()) && known.attempt() < attempt.attempt() ? null : known);
    }

    /** A release was answered. */
    public void released(LockClaim claim, Ownership answer) {
        if (answer == Ownership.NOT_HELD && claim.key().kind() == LockKind.MUTEX) {
            changedByUs(claim);
        }
    }

    /**
     * A claim that waits, or leaves a tombstone, may have set the flag in the record. The server does not signal that
     * change, and stops watching the key.
     */
    private void changedByUs(LockClaim claim) {
        String key = requests.holderKey(claim);
        TrackedKey known = held.get(key);
        if (known != null && !known.claimId().equals(claim.id())) {
            touched(key);
        }
    }

    /**
     * A pushed grant is on its way to the engine, which renews it at once: that renewal makes the server watch the key.
     */
    public void signalled(LockClaim claim, WatchSignal signal) {
        if (signal instanceof WatchSignal.Granted granted && claim.key().kind() == LockKind.MUTEX) {
            held.put(requests.holderKey(claim), tracked(claim, granted.attempt()));
        }
    }

    /**
     * The watch of a claim has begun. An adopted claim holds its lock without an attempt of this client: its key is
     * tracked from now on. An entry of another claim stays, since that claim may hold the lock.
     */
    public void watched(LockClaim claim) {
        if (claim.waiting() == Waiting.NONE
                && claim.key().kind() == LockKind.MUTEX
                && held.putIfAbsent(requests.holderKey(claim), tracked(claim, 0)) == null) {
            remind(List.of(claim));
        }
    }

    /** Renewals were answered, in the order of the claims. */
    public void renewed(List<LockClaim> claims, List<Renewal> answers) {
        long now = nanoTime.getAsLong();
        List<LockClaim> due = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            LockClaim claim = claims.get(i);
            if (answers.get(i) instanceof Renewal.NotHeld) {
                ended(claim);
            } else if (answers.get(i) instanceof Renewal.Held && isDue(claim, now)) {
                due.add(claim);
            }
        }
        remind(due);
    }

    private boolean isDue(LockClaim claim, long now) {
        boolean[] due = new boolean[1];
        held.computeIfPresent(requests.holderKey(claim), (key, known) -> {
            due[0] = known.claimId().equals(claim.id()) && known.isDue(now);
            return due[0] ? tracked(claim, known.attempt()) : known;
        });
        return due[0];
    }

    /** The claim does not hold any more, or is about to be released. */
    public void ended(LockClaim claim) {
        held.computeIfPresent(
                requests.holderKey(claim), (key, known) -> known.claimId().equals(claim.id()) ? null : known);
    }

    /**
     * Makes the server watch the keys of these claims again. If that fails, the keys are not watched until the next
     * renewal, as without tracking.
     */
    private void remind(List<LockClaim> claims) {
        check(
                claims.stream()
                        .map(claim -> new Held(requests.holderKey(claim), claim.id()))
                        .toList(),
                Purpose.WATCH);
    }

    /** Sends one command for the keys of each slot, or for a part of them. */
    private void check(List<Held> claims, Purpose purpose) {
        claims.stream()
                .collect(Collectors.groupingBy(held -> topology.groupOf(held.key())))
                .values()
                .forEach(group -> {
                    for (int from = 0; from < group.size(); from += MOST_AT_ONCE) {
                        List<Held> part = group.subList(from, Math.min(group.size(), from + MOST_AT_ONCE));
                        var unused = topology.linkFor(part.get(0).key()).thenAccept(link -> {
                            StatefulRedisConnection<String, String> connection = link.ready();
                            if (connection != null) {
                                link.inOrder(() -> check(connection, part, purpose));
                            }
                        });
                    }
                });
    }

    private void check(StatefulRedisConnection<String, String> connection, List<Held> claims, Purpose purpose) {
        // The server would watch the key of a released claim for ever.
        List<Held> present = claims.stream().filter(this::isHeld).toList();
        if (present.isEmpty()) {
            return;
        }
        AsyncCommand<String, String, long[]> read = new AsyncCommand<>(
                new Command<>(CommandType.EVAL, new LongArrayOutput(present.size()), question(present)));
        read.onComplete((held, error) -> {
            List<Held> still = new ArrayList<>();
            for (int i = 0; error == null && i < held.length; i++) {
                if (held[i] == 1) {
                    still.add(present.get(i));
                } else {
                    changed.accept(present.get(i).claimId());
                }
            }
            if (purpose == Purpose.VERIFY_AND_WATCH) {
                check(still, Purpose.WATCH);
            }
        });
        if (purpose == Purpose.WATCH) {
            var unused = connection.async().clientCaching(true);
        }
        var unusedToo = connection.dispatch(read);
    }

    private static ScriptArgs question(List<Held> claims) {
        ScriptArgs args =
                new ScriptArgs(512 + 128 * claims.size()).text(SCRIPT.body()).number(claims.size());
        claims.forEach(held -> args.text(held.key()));
        claims.forEach(held -> args.text(held.claimId()));
        return args;
    }

    private boolean isHeld(Held claim) {
        TrackedKey known = held.get(claim.key());
        return known != null && known.claimId().equals(claim.claimId());
    }

    private void pushed(PushMessage message) {
        if (!message.getType().equals("invalidate")) {
            return;
        }
        List<Object> content = message.getContent(StringCodec.UTF8::decodeKey);
        if (content.size() > 1 && content.get(1) instanceof List<?> keys) {
            keys.forEach(key -> touched(String.valueOf(key)));
        } else {
            verifyAll(); // the server was flushed, and names no key
        }
    }

    /**
     * The key has changed: reads it. Makes the server watch it again, unless that happened a moment ago: with a table
     * that is too small, reads would never end.
     */
    private void touched(String key) {
        long now = nanoTime.getAsLong();
        boolean[] isDue = new boolean[1];
        TrackedKey known = held.computeIfPresent(key, (it, before) -> {
            isDue[0] = before.isReminderDue(now);
            return isDue[0] ? before.reminded(now) : before.touched();
        });
        if (known != null) {
            check(List.of(new Held(key, known.claimId())), isDue[0] ? Purpose.VERIFY_AND_WATCH : Purpose.VERIFY);
        }
    }

    /** Reads all held keys, also those of other masters: that is rare, and costs a read. */
    private void verifyAll() {
        List<Held> all = new ArrayList<>();
        held.forEach((key, known) -> all.add(new Held(key, known.claimId())));
        check(all, Purpose.WATCH);
    }

    /** The number of keys that are held now. For tests. */
    public int size() {
        return held.size();
    }

    /** A restored connection watches nothing, and signals may have been missed. */
    private final class Restorations implements RedisConnectionStateListener {

        private final CommandLink link;
        private final StatefulRedisConnection<String, String> connection;

        Restorations(CommandLink link, StatefulRedisConnection<String, String> connection) {
            this.link = link;
            this.connection = connection;
        }

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
            link.inOrder(() -> {
                var unused = switchOn(connection).whenComplete((done, refused) -> {
                    if (refused == null) {
                        verifyAll();
                    } else {
                        boolean unusedToo = link.drop(); // the next command fails with the reason
                    }
                });
            });
        }
    }
}
