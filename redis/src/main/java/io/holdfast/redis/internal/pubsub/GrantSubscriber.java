package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ConnectionInitializer;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.redis.internal.protocol.GrantRecipient;
import io.holdfast.redis.internal.protocol.GrantSecret;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.redis.internal.topology.TopologyListener;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.SignalSink;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/**
 * Receives the messages of the servers to this client, for all watched claims. Each connection for the commands of
 * locks has a {@link ChannelSubscription}: one to the only server, or one to each master of a cluster. A watch is one
 * entry in a map.
 *
 * <p>In a cluster each subscription has a channel of its own, so that the server that publishes counts its receivers
 * exactly, and a message comes once. A claim gets {@code Armed} only for the subscription to the server of its last
 * attempt.
 */
public final class GrantSubscriber implements ConnectionInitializer, TopologyListener {

    /** The id of no claim. */
    private static final String NO_CLAIM = "-";

    /** The pause between attempts to connect to a server where claims wait. */
    private static final Duration RECONNECT_PAUSE = Duration.ofSeconds(1);

    private final DriverClient driver;
    private final Topology topology;
    private final String keyPrefix;
    private final String name;
    private final ExceptionTranslator failures;
    private final Function<LockClaim, String> holderKey;
    private final Consumer<ChannelMessage> giveBack;
    private final GrantSecret secret = GrantSecret.random();
    private final WatchedClaims watches;
    private final Consumer<SignalSink> onCancel;

    /** By the tags of their servers. */
    private final ConcurrentMap<String, ChannelSubscription> subscriptions = new ConcurrentHashMap<>();

    /**
     * Begins without a subscription.
     *
     * @param clientName makes the names of the channels differ from those of other clients
     * @param holderKey gives a claim's key
     * @param giveBack releases a grant whose claim does not wait here any more
     */
    public GrantSubscriber(
            DriverClient driver,
            Topology topology,
            String keyPrefix,
            Duration claimTime,
            String clientName,
            ExceptionTranslator failures,
            Function<LockClaim, String> holderKey,
            Consumer<ChannelMessage> giveBack) {
        this.driver = driver;
        this.topology = topology;
        this.keyPrefix = keyPrefix;
        name = keyPrefix + "client:" + clientName;
        this.failures = failures;
        this.holderKey = holderKey;
        this.giveBack = giveBack;
        watches = new WatchedClaims(claimTime, driver::later, driver::nanoTime);
        onCancel = watches::remove;
        topology.listener(this);
    }

    /** Returns the channel that this client has, or would have, at a server. */
    public String nameAt(RedisURI server) {
        String tag = topology.tagOf(server);
        ChannelSubscription subscription = subscriptions.get(tag);
        return subscription == null ? nameOf(tag) : subscription.name();
    }

    private String nameOf(String tag) {
        return tag.isEmpty() ? name : name + tag;
    }

    GrantSecret secret() {
        return secret;
    }

    /** Returns the recipient of this claim's grant, for one attempt. */
    public GrantRecipient recipient(LockClaim claim) {
        return new ChannelRecipient(this, claim);
    }

    /** Signals a claim that it should send an attempt, or renew. */
    public void changed(String claimId) {
        watches.changed(claimId);
    }

    /** Returns the number of claims that are watched now. */
    public int watchCount() {
        return watches.size();
    }

    WatchedClaims watches() {
        return watches;
    }

    /** Subscribes on a new connection. While the server refuses that, the claims poll. */
    @Override
    public CompletableFuture<?> prepare(CommandLink link, StatefulRedisPubSubConnection<String, String> made) {
        return subscriptionTo(link.uri()).begin(made);
    }

    /** Makes a new connection if claims wait there: they may send their next attempts much later. */
    @Override
    public void left(CommandLink link) {
        String tag = topology.tagOf(link.uri());
        ChannelSubscription subscription = subscriptions.get(tag);
        if (subscription == null || driver.isClosed()) {
            return;
        }
        subscription.left();
        if (link.isEnded()) {
            subscriptions.remove(tag, subscription);
        } else if (isWaitedAt(subscription)) {
            var unused = link.made().whenComplete((made, error) -> {
                if (error != null) {
                    // The next attempts connect, and fail if that fails again.
                    driver.later(RECONNECT_PAUSE, () -> signalAll(subscription, new WatchSignal.Changed()));
                }
            });
        }
    }

    /** Returns the subscription for an attempt that is about to be sent there; null if this claim has to poll. */
    @Nullable
    ChannelSubscription subscriptionFor(LockClaim claim, RedisURI server) {
        WatchedClaim watched = watches.get(claim.id());
        if (watched == null) {
            return null;
        }
        watched.attempts(claim.attempt());
        ChannelSubscription subscription = subscriptionTo(server);
        Throwable refusal = subscription.refusal();
        if (refusal != null) {
            watches.fail(
                    watched,
                    failures.of(
                            new ExceptionTranslator.Subject(
                                    "", "subscribe to channel '%s'".formatted(subscription.name())),
                            refusal));
            return null;
        }
        // The signals came from elsewhere so far, or from an unknown server: after this attempt, another one misses
        // nothing.
        if (watched.moveTo(subscription) && subscription.isUp()) {
            watched.signal(new WatchSignal.Armed());
        }
        return subscription;
    }

    private ChannelSubscription subscriptionTo(RedisURI server) {
        String tag = topology.tagOf(server);
        ChannelSubscription known = subscriptions.get(tag);
        return known != null
                ? known
                : subscriptions.computeIfAbsent(
                        tag, it -> new ChannelSubscription(it, nameAt(server, it), driver::later, this));
    }

    private ChannelName nameAt(RedisURI server, String tag) {
        return new ChannelName(
                nameOf(tag),
                () -> topology.hashTagAt(server, name.hashCode()),
                error -> topology.redirected(server, error) != null);
    }

    public Flux<WatchSignal> watch(LockClaim claim) {
        return new Signals(claim).assembled();
    }

    /** Cold: each subscription is a watch of its own. */
    private final class Signals extends Flux<WatchSignal> {

        private final LockClaim claim;

        Signals(LockClaim claim) {
            this.claim = claim;
        }

        Flux<WatchSignal> assembled() {
            return onAssembly(this);
        }

        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            SignalSink watch = new SignalSink(claim.id(), subscriber, onCancel);
            WatchedClaim watched;
            try {
                // Into the map first: of this thread and the subscription's thread, the second one sees what the other
                // has done.
                watched = watches.add(watched(claim, watch), watch);
            } catch (RuntimeException | Error thrown) {
                Operators.error(subscriber, Operators.onOperatorError(thrown, subscriber.currentContext()));
                return;
            }
            ChannelSubscription subscription = watched.subscription();
            if (subscription != null && subscription.isUp()) {
                watch.accept(new WatchSignal.Armed());
            }
            watch.handOver();
        }
    }

    private WatchedClaim watched(LockClaim claim, SignalSink watch) {
        int group = topology.hasSeveralMasters() ? topology.groupOf(holderKey.apply(claim)) : 0;
        String tag = subscriptions.isEmpty() ? null : topology.tagOf(group);
        return new WatchedClaim(claim, group, tag == null ? null : subscriptions.get(tag), watch);
    }

    /**
     * If the key of a claim has moved, its channel is at a server that does not have the key: the claim sends an
     * attempt to the new server.
     */
    @Override
    public void moved() {
        watches.signalAll(
                watched -> {
                    ChannelSubscription subscription = watched.subscription();
                    return subscription != null
                            && !subscription.tag().equals(topology.tagOf(watched.group()))
                            && watched.leave(subscription);
                },
                new WatchSignal.Changed());
        subscriptions.values().forEach(ChannelSubscription::slotsHaveMoved);
    }

    @Override
    public boolean isWaitedAt(RedisURI server) {
        ChannelSubscription subscription = subscriptions.get(topology.tagOf(server));
        return subscription != null && isWaitedAt(subscription);
    }

    private boolean isWaitedAt(ChannelSubscription subscription) {
        return watches.all().anyMatch(watched -> watched.isWaiting() && subscription.equals(watched.subscription()));
    }

    /** The subscription is in force: for the first time, or again after an interruption. */
    void isUp(ChannelSubscription subscription) {
        signalAll(subscription, new WatchSignal.Armed());
    }

    /**
     * With several masters, the subscription may stay down while another server takes over the keys: attempts find out
     * which server.
     */
    void isInterrupted(ChannelSubscription subscription) {
        if (topology.hasSeveralMasters() && !driver.isClosed()) {
            signalAll(subscription, new WatchSignal.Changed());
        }
    }

    private void signalAll(ChannelSubscription subscription, WatchSignal signal) {
        watches.signalAll(watched -> subscription.equals(watched.subscription()), signal);
    }

    void received(String channel, String text) {
        ChannelMessage message = ChannelMessage.parse(channel, text, secret, keyPrefix);
        if (message != null && message.signal() instanceof WatchSignal.Changed) {
            watches.hinted(message.claimId());
        } else if (message != null && message.signal() instanceof WatchSignal.LostRun) {
            watches.lost(message, watched -> holderKey.apply(watched.claim()));
        } else if (message != null) {
            granted(message);
        }
    }

    private void granted(ChannelMessage grant) {
        if (watches.granted(grant, watched -> holderKey.apply(watched.claim()))) {
            giveBack.accept(grant);
        }
    }

    /**
     * A server has granted a lock to a claim or run of this client in the answer to another claim. If the claim is not
     * known here, it may be one of a clone of this process, which has the same channel. A release of a claim that does
     * not exist makes the server send a hint to the clone.
     */
    public void grantedInAnswer(ChannelMessage grant) {
        boolean isKnown = watches.get(grant.claimId()) != null;
        if (watches.granted(grant, watched -> holderKey.apply(watched.claim()))) {
            giveBack.accept(grant);
        } else if (!isKnown) {
            giveBack.accept(new ChannelMessage(List.of(NO_CLAIM), grant.signal(), grant.keys()));
        }
    }
}
