package io.holdfast.redis;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Lets the server tell at once when somebody else changes the key of a mutex that is held here ({@code CLIENT TRACKING}). What
 * is told is "look again": the engine then renews, and that answer decides.
 *
 * <p>The server watches a key for a connection that has read it, until its next change, ours included. So after a grant, and
 * after each renewal, the keys are read on the connection that locks are taken on. Its own changes are not told ({@code NOLOOP}).
 *
 * <p>The reading is a command of its own, behind {@code CLIENT CACHING YES} ({@code OPTIN}). Were it done in the scripts, Redis
 * 6.2 and 7.0 would remember <em>all</em> KEYS of a script that reads any (see {@code trackingRememberKeys}): with them the
 * tombstone of each claim, which nobody ever changes, so the server's table would grow with each acquisition; and the locks that
 * others only wait for.
 */
final class LossByPush implements ConnectionSetup {

    private final Route route;
    private final LockRequests requests;
    private final Consumer<String> changed;

    /** By the key of the holder, from the grant until the release. */
    private final ConcurrentMap<String, HeldKey> held = new ConcurrentHashMap<>();

    /**
     * Nothing is held yet.
     *
     * @param changed told the id of a claim that should look again
     */
    LossByPush(Route route, LockRequests requests, Consumer<String> changed) {
        this.route = route;
        this.requests = requests;
        this.changed = changed;
    }

    @Override
    public CompletableFuture<StatefulRedisConnection<String, String>> prepare(
            CommandLink link, StatefulRedisConnection<String, String> made) {
        made.addListener(this::pushed);
        made.addListener(new Restorations(link, made));
        CompletableFuture<StatefulRedisConnection<String, String>> prepared = new CompletableFuture<>();
        var unused = switchOn(made).whenComplete((done, refused) -> {
            if (refused == null) {
                prepared.complete(made);
            } else {
                var unusedClosing = made.closeAsync();
                prepared.completeExceptionally(refused);
            }
        });
        return prepared;
    }

    /** CACHING is tried as well, so that a missing permission shows now; PING takes back what it asks for. */
    private static CompletableFuture<?> switchOn(StatefulRedisConnection<String, String> connection) {
        RedisAsyncCommands<String, String> async = connection.async();
        return async.clientTracking(TrackingArgs.Builder.enabled().optin().noloop())
                .toCompletableFuture()
                .thenCombine(async.clientCaching(true), (on, caching) -> on)
                .thenCombine(async.ping(), (on, pong) -> on);
    }

    /** A look was answered: does the claim hold from now on? */
    void looked(LockClaim claim, LockAttempt answer) {
        if (answer instanceof LockAttempt.Acquired && claim.key().kind() == LockKind.MUTEX) {
            held.put(
                    requests.holderKey(claim),
                    HeldKey.of(claim.id(), claim.lease().toNanos(), System.nanoTime()));
            remind(List.of(claim));
        }
    }

    /** A pushed grant is on its way to the engine, which renews it at once: that asks the server. */
    void signalled(LockClaim claim, WatchSignal signal) {
        if (signal instanceof WatchSignal.Granted && claim.key().kind() == LockKind.MUTEX) {
            held.put(
                    requests.holderKey(claim),
                    HeldKey.of(claim.id(), claim.lease().toNanos(), System.nanoTime()));
        }
    }

    /** Renewals were answered, in the order of the claims. */
    void renewed(List<LockClaim> claims, List<Renewal> answers) {
        long now = System.nanoTime();
        List<LockClaim> due = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            LockClaim claim = claims.get(i);
            if (answers.get(i) instanceof Renewal.NotHeld) {
                ended(claim);
            } else if (answers.get(i) instanceof Renewal.Held && isDue(claim, now)) {
                due.add(claim);
            }
        }
        due.stream()
                .collect(Collectors.groupingBy(claim -> route.groupOf(requests.holderKey(claim))))
                .values()
                .forEach(this::remind);
    }

    private boolean isDue(LockClaim claim, long now) {
        boolean[] due = new boolean[1];
        held.computeIfPresent(requests.holderKey(claim), (key, known) -> {
            due[0] = known.claimId().equals(claim.id()) && known.isDue(now);
            return due[0] ? HeldKey.of(claim.id(), claim.lease().toNanos(), now) : known;
        });
        return due[0];
    }

    /** The claim does not hold any more, or is about to be released. */
    void ended(LockClaim claim) {
        held.computeIfPresent(
                requests.holderKey(claim), (key, known) -> known.claimId().equals(claim.id()) ? null : known);
    }

    /** Claims of one slot. A failure leaves their keys unwatched until the next renewal, which is what there is without us. */
    private void remind(List<LockClaim> claims) {
        var unused = route.linkFor(requests.holderKey(claims.get(0))).thenAccept(link -> {
            StatefulRedisConnection<String, String> connection = link.ready();
            if (connection != null) {
                link.inOrder(() -> remind(connection, claims));
            }
        });
    }

    private void remind(StatefulRedisConnection<String, String> connection, List<LockClaim> claims) {
        // What was released meanwhile would be watched for ever.
        List<LockClaim> present = claims.stream().filter(this::isHeld).toList();
        if (present.isEmpty()) {
            return;
        }
        CommandArgs<String, String> keys = new CommandArgs<>(StringCodec.UTF8);
        present.forEach(claim -> keys.add(requests.holderKey(claim).getBytes(StandardCharsets.UTF_8)));
        AsyncCommand<String, String, Long> read =
                new AsyncCommand<>(new Command<>(CommandType.EXISTS, new IntegerOutput<>(StringCodec.UTF8), keys));
        read.onComplete((there, error) -> {
            // One is gone already, and so nothing will be told of it.
            if (error == null && there < present.size()) {
                present.forEach(claim -> changed.accept(claim.id()));
            }
        });
        var unused = connection.async().clientCaching(true);
        var unusedToo = connection.dispatch(read);
    }

    private boolean isHeld(LockClaim claim) {
        HeldKey known = held.get(requests.holderKey(claim));
        return known != null && known.claimId().equals(claim.id());
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

    private void touched(String key) {
        HeldKey known = held.computeIfPresent(key, (it, before) -> before.touched());
        if (known != null) {
            changed.accept(known.claimId());
        }
    }

    /** Those of other masters too: it is rare, and costs them a renewal at most. */
    private void verifyAll() {
        held.values().forEach(known -> changed.accept(known.claimId()));
    }

    /** Keys that are held now, for tests. */
    int size() {
        return held.size();
    }

    /** A restored connection watches nothing, and something may have been missed. */
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
                        boolean unusedToo = link.drop(); // the next command is told why
                    }
                });
            });
        }
    }
}
