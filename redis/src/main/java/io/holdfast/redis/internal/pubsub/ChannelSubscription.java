package io.holdfast.redis.internal.pubsub;

import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one server and the subscription to this client's one channel there. Opened when it is first needed;
 * from then on the driver restores it.
 */
final class ChannelSubscription {

    /** Receives the states of a subscription, on the driver's threads. */
    interface Listener {

        /** The subscription is in force: for the first time, or again after an interruption. */
        void isUp(ChannelSubscription subscription);

        void isInterrupted(ChannelSubscription subscription);

        /** The connection could not be made: the subscription is closed, as before. */
        void isUnreachable(ChannelSubscription subscription);

        /** The server does not allow the subscription, now or later. */
        void isRefused(ChannelSubscription subscription, Throwable error);

        void received(String channel, String text);

        /** Whether a claim waits for messages of this subscription. */
        boolean isWaitedAt(ChannelSubscription subscription);
    }

    private static final Duration GRACE = Duration.ofMillis(100);

    /** If a server does not even confirm the first subscription, it is tried again on another connection. */
    private static final Duration SUBSCRIPTION_LIMIT = Duration.ofSeconds(2);

    private enum State {
        CLOSED,
        OPENING,
        OPEN,
        /** The server does not allow the subscription: claims poll from then on. */
        REFUSED,
        /** Closed for good. */
        ENDED
    }

    private final DriverClient driver;
    private final RedisURI server;
    private final String tag;
    private final ChannelName name;
    private final Listener listener;
    private final ChannelHeartbeat heartbeat;
    private final Resubscription repair;
    private final AtomicReference<State> state = new AtomicReference<>(State.CLOSED);

    /** Set while a second connection is made that may replace the present one. */
    private final AtomicBoolean isReplacing = new AtomicBoolean();

    /**
     * Set if the server was to be left while the subscription was being opened: it is left when the subscription is
     * open.
     */
    private final AtomicBoolean isToBeLeft = new AtomicBoolean();

    /**
     * The connection of the state OPEN, and of OPENING once it is made; written by the thread that changes the state.
     */
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;

    /**
     * The connection on which the server has confirmed the subscription; written by the driver's thread. The
     * subscription is up only if that is the present connection.
     */
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> confirmed;

    /**
     * Makes a closed subscription.
     *
     * @param tag see {@code Topology.tagOf}
     */
    ChannelSubscription(DriverClient driver, RedisURI server, String tag, ChannelName name, Listener listener) {
        this.driver = driver;
        this.server = server;
        this.tag = tag;
        this.name = name;
        this.listener = listener;
        heartbeat = new ChannelHeartbeat(
                (millis, work) -> driver.later(Duration.ofMillis(millis), work), driver::nanoTime, this::replace);
        repair = new Resubscription(driver::later, this::isBroken, this::subscribeAgain);
    }

    String tag() {
        return tag;
    }

    String name() {
        return name.on(connection);
    }

    boolean isUp() {
        StatefulRedisPubSubConnection<String, String> present = connection;
        return present != null && present.equals(confirmed);
    }

    /** Whether messages there will be received, now or when the subscription is up. */
    boolean isOfUse() {
        State present = state.get();
        return present != State.REFUSED && present != State.ENDED;
    }

    /** Returns the request for an echo of an attempt that is about to be sent; null if it need not request one. */
    ChannelHeartbeat.@Nullable EchoRequest requestEcho(boolean isFirst) {
        return isUp() ? heartbeat.requestEcho(isFirst) : null;
    }

    /** A waiter has left without its turn. */
    void doubt() {
        heartbeat.doubt();
    }

    /** Opens the subscription. Does nothing if it is open or being opened. Returns at once. */
    void open() {
        if (state.get() == State.OPEN && !isUp()) {
            repair.plan();
        }
        if (driver.isClosed() || !state.compareAndSet(State.CLOSED, State.OPENING)) {
            return;
        }
        var unused = driver.connectPubSub(server).whenComplete((made, error) -> {
            if (error == null) {
                subscribe(made);
            } else if (state.compareAndSet(State.OPENING, State.CLOSED)) {
                listener.isUnreachable(this);
            }
        });
    }

    private void subscribe(StatefulRedisPubSubConnection<String, String> made) {
        connection = made;
        made.addListener(new Messages(made));
        made.addListener(new Interruptions(made));
        if (state.get() == State.ENDED) { // while the connection was being made: end() did not see it
            var unusedClosing = made.closeAsync();
            return;
        }
        CompletableFuture<Void> confirmation = name.subscribe(made);
        driver.later(SUBSCRIPTION_LIMIT, () -> {
            if (!confirmation.isDone()) {
                var unusedClosing = made.closeAsync(); // this fails the subscription
            }
        });
        var unused = confirmation.whenComplete((done, failed) -> {
            if (failed == null) {
                if (state.compareAndSet(State.OPENING, State.OPEN) && isToBeLeft.get()) {
                    leaveForAnother();
                }
                return;
            }
            boolean isAnswer = KnownError.isAnswer(failed);
            if (isAnswer) {
                hangUp(made);
            } else {
                giveUp(made);
            }
            if (!state.compareAndSet(State.OPENING, isAnswer ? State.REFUSED : State.CLOSED)) {
                return;
            }
            if (isAnswer) {
                listener.isRefused(this, failed);
            } else {
                listener.isUnreachable(this);
            }
        });
    }

    /** The server may have other slots than before. */
    void slotsHaveMoved() {
        StatefulRedisPubSubConnection<String, String> present = connection;
        if (present != null && isUp() && !name.isSharded()) {
            name.shardAnew(present);
        }
    }

    private boolean isBroken() {
        return state.get() == State.OPEN && !isUp() && listener.isWaitedAt(this);
    }

    private void subscribeAgain() {
        StatefulRedisPubSubConnection<String, String> present = connection;
        if (present != null && present.isOpen()) {
            name.repeat(present);
        }
    }

    /**
     * Replaces a silent connection by a new one, if it is still silent when the new one is made. So a server that was
     * only slow can still be heard on the old one, and no waiter has to send another attempt.
     */
    private void replace(ChannelHeartbeat.EchoRequest unheard) {
        StatefulRedisPubSubConnection<String, String> old = connection;
        if (old == null || state.get() != State.OPEN || !isReplacing.compareAndSet(false, true)) {
            return;
        }
        var unused = driver.connectPubSub(server).whenComplete((made, error) -> {
            if (error == null) {
                // Answers that came on the old connection meanwhile may still have to be read.
                driver.later(GRACE, () -> replace(old, made, unheard));
            } else {
                isReplacing.set(false);
            }
        });
    }

    private void replace(
            StatefulRedisPubSubConnection<String, String> old,
            StatefulRedisPubSubConnection<String, String> made,
            ChannelHeartbeat.EchoRequest unheard) {
        if (unheard.isUnheard() && old.equals(connection) && state.compareAndSet(State.OPEN, State.OPENING)) {
            giveUp(old);
            heartbeat.startAnew();
            subscribe(made);
        } else {
            heartbeat.wasWrong();
            var unused = made.closeAsync();
        }
        isReplacing.set(false);
    }

    /**
     * Leaves a connection that cannot be trusted any more, and makes a new one if a claim waits for it. A connection
     * that is being made may lead to the former server too: it is left as soon as it is made.
     */
    void leaveForAnother() {
        if (state.get() == State.CLOSED) {
            return; // the next open() finds the present server
        }
        isToBeLeft.set(true); // first: it is checked after the subscription has become open
        if (leave() && listener.isWaitedAt(this)) {
            open();
        }
    }

    private boolean leave() {
        StatefulRedisPubSubConnection<String, String> old = connection;
        // Not closed yet: an open() at this moment would find the old name.
        if (old == null || !state.compareAndSet(State.OPEN, State.OPENING)) {
            return false;
        }
        isToBeLeft.set(false);
        giveUp(old);
        state.compareAndSet(State.OPENING, State.CLOSED);
        return true;
    }

    /** Gives up a connection. Waiters get the new name with their next attempt, when the subscription is up. */
    private void giveUp(StatefulRedisPubSubConnection<String, String> old) {
        name.change();
        hangUp(old);
    }

    /** Closes the subscription for good. */
    void end() {
        state.set(State.ENDED);
        StatefulRedisPubSubConnection<String, String> old = connection;
        if (old != null) {
            hangUp(old);
        }
    }

    private void hangUp(StatefulRedisPubSubConnection<String, String> old) {
        connection = null;
        var unused = old.closeAsync();
    }

    private final class Messages extends RedisPubSubAdapter<String, String> {

        private final StatefulRedisPubSubConnection<String, String> mine;

        /** Written by the driver's thread. */
        private boolean wasUp;

        Messages(StatefulRedisPubSubConnection<String, String> mine) {
            this.mine = mine;
        }

        /** Called for the first subscription, and for each one after a reconnect. */
        @Override
        public void subscribed(String channel, long count) {
            if (mine.equals(connection) && !isUp()) {
                confirmed = mine;
                heartbeat.heard();
                listener.isUp(ChannelSubscription.this);
                if (wasUp) {
                    name.askAgain();
                }
                if (wasUp || !name.isSharded()) { // the slots may have moved meanwhile
                    name.shardAnew(mine);
                }
                wasUp = true;
            }
        }

        /** The slot of the channel has another server now. */
        @Override
        public void sunsubscribed(String channel, long count) {
            if (mine.equals(connection)) {
                name.shardAnew(mine);
            }
        }

        @Override
        public void smessage(String channel, String text) {
            message(channel, text);
        }

        @Override
        public void message(String channel, String text) {
            // The scripts publish hints without a request for an echo. A hint may come from another master, through a
            // server that is a replica now.
            if (mine.equals(connection) && !ChannelMessage.isHint(text)) {
                heartbeat.heard();
            }
            listener.received(channel, text);
        }
    }

    private final class Interruptions implements RedisConnectionStateListener {

        private final StatefulRedisPubSubConnection<String, String> mine;

        Interruptions(StatefulRedisPubSubConnection<String, String> mine) {
            this.mine = mine;
        }

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress address) {
            if (mine.equals(connection)) {
                repair.plan();
            }
        }

        /** The driver restores the connection. */
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            if (mine.equals(connection) && !driver.isClosed()) {
                confirmed = null;
                listener.isInterrupted(ChannelSubscription.this);
            }
        }
    }
}
