package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The name of a subscription's channel, and the subscriptions to it. In a cluster, {@code PUBLISH} sends a message to every server, and {@code
 * SPUBLISH}, from Redis 7 on, to the replicas of one master only. So the subscription subscribes with {@code SSUBSCRIBE} too, to a name with a hash
 * tag in a slot of its server. The scripts know by the hash tag that they may try {@code SPUBLISH} (push.lua).
 *
 * <p>There is a plain subscription to the same name. A message goes there when the slot has left the server, or when the client that
 * publishes has no right to {@code SPUBLISH}. Another plain one is to the name without a hash tag, for claims that looked before.
 */
final class ChannelName {

    private final String first;
    private final Supplier<@Nullable String> hashTag;
    private final Predicate<Throwable> isRedirection;

    /**
     * Another one after each connection that was given up: the server may count that as a receiver until its keep-alive finds out. Written
     * by the thread that gives it up.
     */
    private volatile String plain;

    /** Connections that were given up; written together with the plain name. */
    private int givenUp;

    /** Set when the server does not know SSUBSCRIBE, or does not allow it: it is not asked again. Written by the driver's thread. */
    private volatile boolean isRefused;

    /** Whether SSUBSCRIBE is in force, as far as is known; written by the driver's thread. */
    private volatile boolean isSharded;

    /** What one connection is subscribed to; written by the driver's thread. */
    private volatile @Nullable Chosen chosen;

    private record Chosen(StatefulRedisPubSubConnection<String, String> on, String name) {}

    /**
     * Of one subscription.
     *
     * @param first what all its names begin with
     * @param hashTag a text in a slot that the server has now; null for none, and where there is no cluster
     * @param isRedirection whether an error says that another server has the slot; where the map is old, it is asked for
     */
    ChannelName(String first, Supplier<@Nullable String> hashTag, Predicate<Throwable> isRedirection) {
        this.first = first;
        plain = first;
        this.hashTag = hashTag;
        this.isRedirection = isRedirection;
    }

    /**
     * What an attempt names while this is the subscription's connection. A name with a hash tag only while its sharded subscription is in force: scripts
     * believe that a message has arrived if SPUBLISH has a receiver, and without ours that may be a stranger.
     */
    String on(@Nullable StatefulRedisPubSubConnection<String, String> connection) {
        Chosen present = chosen;
        return isSharded && present != null && present.on().equals(connection) ? present.name() : plain;
    }

    /** Whether messages go to the replicas of one master only. */
    boolean isSharded() {
        return isSharded;
    }

    /** For the next connection. */
    void change() {
        givenUp++;
        plain = first + '~' + givenUp;
    }

    /** Fails with the driver's own error. */
    CompletableFuture<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection) {
        CompletableFuture<Void> confirmed = new CompletableFuture<>();
        String without = plain;
        var unused = sharded(connection, without).thenAccept(with -> {
            // Those that wait already were sent with the name without a hash tag.
            String[] names = with == null ? new String[] {without} : new String[] {with, without};
            chosen = new Chosen(connection, names[0]);
            var unusedToo = connection.async().subscribe(names).whenComplete((done, failed) -> {
                if (failed == null) {
                    confirmed.complete(null);
                } else {
                    confirmed.completeExceptionally(failed);
                }
            });
        });
        return confirmed;
    }

    /**
     * Subscribes with SSUBSCRIBE again, to another name if the server has another slot now. A waiter with the former name still hears of
     * its turn by that, since the connection keeps the plain subscription to it. Its next attempt brings the new name.
     */
    void shardAnew(StatefulRedisPubSubConnection<String, String> connection) {
        var unused = sharded(connection, plain).thenAccept(name -> {
            if (name != null && !new Chosen(connection, name).equals(chosen)) {
                chosen = null; // until the plain subscription to the new name is confirmed
                var unusedToo = connection.async().subscribe(name).thenRun(() -> chosen = new Chosen(connection, name));
            }
        });
    }

    /** After a reconnect: the server may be another version, or its rights may have changed. */
    void askAgain() {
        isRefused = false;
    }

    /** Repeats the plain subscriptions. */
    void repeat(StatefulRedisPubSubConnection<String, String> connection) {
        String without = plain;
        String named = on(connection);
        var unused = connection
                .async()
                .subscribe(named.equals(without) ? new String[] {without} : new String[] {named, without});
    }

    /** Subscribes with SSUBSCRIBE where that can be. Gives the name with its hash tag, or null; never fails. */
    private CompletableFuture<@Nullable String> sharded(
            StatefulRedisPubSubConnection<String, String> connection, String without) {
        isSharded = false; // first: a new map that comes meanwhile leads here again
        String tag = isRefused || !tellsMessagesFromAnswers(connection) ? null : hashTag.get();
        if (tag == null) {
            return CompletableFuture.completedFuture(null);
        }
        String with = without + '{' + tag + '}';
        return connection.async().ssubscribe(with).toCompletableFuture().handle((done, failed) -> {
            if (failed != null && KnownError.isAnswer(failed) && !isRedirection.test(failed)) {
                isRefused = isForGood(String.valueOf(failed.getMessage()));
            }
            isSharded = failed == null;
            return failed == null ? with : null;
        });
    }

    /** Others, such as CLUSTERDOWN and LOADING, pass. */
    private static boolean isForGood(String refusal) {
        return refusal.startsWith("NOPERM") || refusal.startsWith("ERR");
    }

    /** With RESP2 the driver takes a message of a sharded channel for the answer to a command that is under way. */
    private static boolean tellsMessagesFromAnswers(StatefulRedisPubSubConnection<String, String> connection) {
        return connection instanceof StatefulRedisConnectionImpl<?, ?> known
                && known.getConnectionState().getNegotiatedProtocolVersion() == ProtocolVersion.RESP3;
    }
}
