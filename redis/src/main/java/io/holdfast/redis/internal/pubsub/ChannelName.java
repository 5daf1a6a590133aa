package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The name of a subscription's channel, and the subscriptions to it. In a cluster, {@code PUBLISH} sends a message to
 * every server, and {@code SPUBLISH}, from Redis 7 on, to the replicas of one master only. So the client also
 * subscribes with {@code SSUBSCRIBE}, to a name with a hash tag in a slot of its server. The hash tag shows the scripts
 * that they may try {@code SPUBLISH} ({@code publish()} in grants.lua, and mutex_hand_off.lua).
 *
 * <p>There is a plain subscription to the same name. A message goes there if the slot has left the server, or if the
 * client that publishes has no right to {@code SPUBLISH}. Another plain subscription is to the name without a hash tag,
 * for claims whose attempts had that name.
 */
final class ChannelName {

    private final String plain;
    private final Supplier<@Nullable String> hashTag;
    private final Predicate<Throwable> isRedirection;

    /**
     * Set if the server does not know SSUBSCRIBE, or does not allow it: the client does not try it again on this connection.
     * Written by the driver's thread.
     */
    private volatile boolean isRefused;

    /** Whether SSUBSCRIBE is in force, as far as is known; written by the driver's thread. */
    private volatile boolean isSharded;

    /** The name to which one connection is subscribed; written by the driver's thread. */
    private volatile @Nullable Chosen chosen;

    private record Chosen(StatefulRedisPubSubConnection<String, String> on, String name) {}

    /**
     * The channel of one subscription.
     *
     * @param plain its name without a hash tag
     * @param hashTag a text in a slot that the server has now; null for none, and without a cluster
     * @param isRedirection whether an error says that another server has the slot; if the map is old, it makes the
     *     client request a new one
     */
    ChannelName(String plain, Supplier<@Nullable String> hashTag, Predicate<Throwable> isRedirection) {
        this.plain = plain;
        this.hashTag = hashTag;
        this.isRedirection = isRedirection;
    }

    /**
     * Returns the name for an attempt while this is the subscription's connection. It has a hash tag only while the
     * sharded subscription is in force. The scripts take a message for received if SPUBLISH has a receiver, and without
     * this client's subscription that may be another client.
     */
    String on(@Nullable StatefulRedisPubSubConnection<String, String> connection) {
        Chosen present = chosen;
        return isSharded && present != null && present.on().equals(connection) ? present.name() : plain;
    }

    /** Whether messages go to the replicas of one master only. */
    boolean isSharded() {
        return isSharded;
    }

    /** Subscribes. Fails with the driver's own error. */
    CompletableFuture<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection) {
        CompletableFuture<Void> confirmed = new CompletableFuture<>();
        var unused = sharded(connection).thenAccept(with -> {
            // The attempts of claims that already wait had the name without a hash tag.
            String[] names = with == null ? new String[] {plain} : new String[] {with, plain};
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
     * Subscribes with SSUBSCRIBE again, to another name if the server has another slot now. A waiter with the former
     * name still gets its grant under that name, since the connection keeps the plain subscription to it. Its next
     * attempt brings the new name.
     */
    void shardAnew(StatefulRedisPubSubConnection<String, String> connection) {
        var unused = sharded(connection).thenAccept(name -> {
            if (name != null && !new Chosen(connection, name).equals(chosen)) {
                chosen = null; // until the plain subscription to the new name is confirmed
                var unusedToo = connection.async().subscribe(name).thenRun(() -> chosen = new Chosen(connection, name));
            }
        });
    }

    /** Allows SSUBSCRIBE again on a new connection: the server may be another version, or its rights may have changed. */
    void askAgain() {
        isRefused = false;
    }

    /** Subscribes with SSUBSCRIBE if possible. Completes with the name and its hash tag, or null; never fails. */
    private CompletableFuture<@Nullable String> sharded(StatefulRedisPubSubConnection<String, String> connection) {
        isSharded = false; // first: a new map that comes meanwhile leads here again
        String tag = isRefused ? null : hashTag.get();
        if (tag == null) {
            return CompletableFuture.completedFuture(null);
        }
        String with = plain + '{' + tag + '}';
        return connection.async().ssubscribe(with).toCompletableFuture().handle((done, failed) -> {
            if (failed != null && KnownError.isAnswer(failed) && !isRedirection.test(failed)) {
                isRefused = isForGood(String.valueOf(failed.getMessage()));
            }
            isSharded = failed == null;
            return failed == null ? with : null;
        });
    }

    /** Other errors, such as CLUSTERDOWN and LOADING, pass. */
    private static boolean isForGood(String refusal) {
        return refusal.startsWith("NOPERM") || refusal.startsWith("ERR");
    }
}
