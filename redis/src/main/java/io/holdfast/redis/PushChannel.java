package io.holdfast.redis;

import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/**
 * The client's one channel: a connection and a subscription of its own, for all watched claims. Opened when a claim first
 * has to wait, kept up by the driver from then on. A watch is one entry in a map.
 */
final class PushChannel {

    /**
     * Two threads meet at one watch only for as long as one of them hands a signal over. Not {@code busyLooping}: its time is up for
     * good after the first use.
     */
    private static final Sinks.EmitFailureHandler RETRY =
            (signal, result) -> result == Sinks.EmitResult.FAIL_NON_SERIALIZED;

    private enum State {
        CLOSED,
        OPENING,
        OPEN,
        /** The server does not let us subscribe: claims poll from then on. */
        REFUSED
    }

    private final LettuceClient lettuce;
    private final Route route;
    private final String name;
    private final RedisFailures failures;
    private final Consumer<PushMessage> giveBack;

    private final ChannelPulse pulse;

    /** Set while a second connection is made that may replace the present one. */
    private final AtomicBoolean isReplacing = new AtomicBoolean();

    private final ConcurrentMap<String, List<Sinks.Many<WatchSignal>>> watches = new ConcurrentHashMap<>();
    private final AtomicReference<State> state = new AtomicReference<>(State.CLOSED);

    /** The connection of the state OPEN, and of OPENING once it is made; written by whoever changes the state. */
    private volatile @Nullable Line line;

    /** A connection and the server it was made to. */
    private record Line(StatefulRedisPubSubConnection<String, String> connection, RedisURI server) {}

    /** Written by the driver's thread: whether the server has confirmed the subscription on the present connection. */
    private volatile boolean isUp;

    /**
     * A closed channel.
     *
     * @param giveBack releases a grant that nobody here waits for
     */
    PushChannel(
            LettuceClient lettuce, Route route, String name, RedisFailures failures, Consumer<PushMessage> giveBack) {
        this.lettuce = lettuce;
        this.route = route;
        this.name = name;
        this.failures = failures;
        this.giveBack = giveBack;
        pulse = new ChannelPulse(lettuce::later, this::askForLife, this::replace);
        route.onSuspect(this::leave);
    }

    String name() {
        return name;
    }

    /** The channel for the scripts to publish to; empty when this claim has to poll. */
    String nameFor(String claimId) {
        return state.get() != State.REFUSED && watches.containsKey(claimId) ? name : "";
    }

    Flux<WatchSignal> watch(String claimId) {
        return Flux.defer(() -> {
            AtomicReference<Sinks.@Nullable Many<WatchSignal>> self = new AtomicReference<>();
            Sinks.Many<WatchSignal> watch = Sinks.many()
                    .unicast()
                    .onBackpressureBuffer(
                            Queues.<WatchSignal>unboundedMultiproducer().get(), () -> remove(claimId, self.get()));
            self.set(watch);
            // Into the map first: whichever of this thread and the channel's comes second sees the other.
            watches.merge(claimId, List.of(watch), PushChannel::joined);
            if (isUp) {
                watch.emitNext(new WatchSignal.Armed(), RETRY);
            }
            return watch.asFlux();
        });
    }

    private static <E> List<E> joined(List<E> some, List<E> more) {
        List<E> all = new ArrayList<>(some);
        all.addAll(more);
        return List.copyOf(all);
    }

    private void remove(String claimId, Sinks.@Nullable Many<WatchSignal> watch) {
        watches.computeIfPresent(claimId, (id, some) -> {
            List<Sinks.Many<WatchSignal>> rest =
                    some.stream().filter(other -> other != watch).toList();
            return rest.isEmpty() ? null : rest;
        });
    }

    int watchCount() {
        return watches.size();
    }

    /**
     * Opens the channel if this claim is watched and that was not done yet. Returns at once.
     *
     * @param millis until this claim looks again, if it goes on waiting
     */
    void openFor(String claimId, long millis) {
        if (state.get() == State.REFUSED || !watches.containsKey(claimId)) {
            return;
        }
        open();
        pulse.beatFor(millis);
    }

    private void open() {
        if (state.compareAndSet(State.CLOSED, State.OPENING)) {
            connect(new ArrayDeque<>(route.channelServers()));
        }
    }

    /** Tries one server after the other; after the last, the next look that has to wait begins anew. */
    private void connect(Queue<RedisURI> servers) {
        RedisURI server = servers.poll();
        if (server == null || lettuce.isClosed()) {
            state.set(State.CLOSED);
            return;
        }
        var unused = lettuce.connectPubSub(server).whenComplete((made, error) -> {
            if (error == null) {
                subscribe(new Line(made, server));
            } else {
                connect(servers);
            }
        });
    }

    private void subscribe(Line made) {
        StatefulRedisPubSubConnection<String, String> connection = made.connection();
        line = made;
        connection.addListener(new Messages(made));
        connection.addListener(new Interruptions(made));
        var unused = connection.async().subscribe(name).whenComplete((done, failed) -> {
            if (failed == null) {
                state.compareAndSet(State.OPENING, State.OPEN);
            } else {
                var unusedClosing = connection.closeAsync();
                refuse(failed);
            }
        });
    }

    /** Leaves a server that is no more to be trusted, and looks for another one. Does nothing when the channel is not there. */
    void leave(RedisURI server) {
        Line present = line;
        if (present != null && present.server().equals(server)) {
            leave(present);
        }
    }

    private void leave(Line old) {
        if (!old.equals(line) || !state.compareAndSet(State.OPEN, State.CLOSED)) {
            return;
        }
        line = null;
        isUp = false;
        var unused = old.connection().closeAsync();
        if (!watches.isEmpty()) {
            open();
        }
    }

    /** Subscribes once more: the answer shows that the connection lives, and makes good for a subscription that failed. */
    private void askForLife() {
        Line present = line;
        if (present == null) {
            if (!watches.isEmpty()) {
                open();
            }
            return;
        }
        var unused = present.connection().async().subscribe(name).whenComplete((done, error) -> {
            if (present.equals(line) && (error == null || RedisFailures.isAnswer(error))) {
                pulse.heard();
            }
        });
    }

    /**
     * Puts a new connection in the place of one that is silent, if that is so still when the new one is there: a server that only
     * took its time answers on the old one first, and nobody has to look again.
     */
    private void replace() {
        Line old = line;
        if (old == null || state.get() != State.OPEN || !isReplacing.compareAndSet(false, true)) {
            return;
        }
        var unused = lettuce.connectPubSub(old.server()).whenComplete((made, error) -> {
            isReplacing.set(false);
            if (error != null) {
                return;
            }
            if (pulse.isSilent() && old.equals(line) && state.compareAndSet(State.OPEN, State.OPENING)) {
                isUp = false;
                var unusedClosing = old.connection().closeAsync();
                subscribe(new Line(made, old.server()));
            } else {
                var unusedClosing = made.closeAsync();
            }
        });
    }

    private void refuse(Throwable error) {
        line = null;
        if (!RedisFailures.isAnswer(error)) {
            state.set(State.CLOSED);
            return;
        }
        state.set(State.REFUSED);
        RedisFailures.Subject subject = new RedisFailures.Subject("", "subscribe to channel '%s'".formatted(name));
        watches.values().forEach(some -> some.forEach(watch -> watch.emitError(failures.of(subject, error), RETRY)));
    }

    private void arm() {
        isUp = true;
        pulse.heard();
        watches.values().forEach(some -> some.forEach(watch -> watch.emitNext(new WatchSignal.Armed(), RETRY)));
    }

    private void receive(String text) {
        PushMessage message = PushMessage.parse(text);
        if (message == null) {
            return;
        }
        List<Sinks.Many<WatchSignal>> some = watches.get(message.claimId());
        if (some != null) {
            some.forEach(watch -> watch.emitNext(message.signal(), RETRY));
        } else {
            giveBack.accept(message);
        }
    }

    private final class Messages extends RedisPubSubAdapter<String, String> {

        private final Line mine;

        Messages(Line mine) {
            this.mine = mine;
        }

        /** Comes for the first subscription, for each one that the driver makes after a reconnect, and as a sign of life. */
        @Override
        public void subscribed(String channel, long count) {
            if (mine.equals(line) && !isUp) {
                arm();
            }
        }

        @Override
        public void message(String channel, String text) {
            if (mine.equals(line)) {
                pulse.heard();
            }
            receive(text);
        }
    }

    private final class Interruptions implements RedisConnectionStateListener {

        private final Line mine;

        Interruptions(Line mine) {
            this.mine = mine;
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            if (!mine.equals(line)) {
                return;
            }
            isUp = false;
            // The driver restores the connection to the same server. Where any will do, another one is sooner there.
            if (route.isAnyServerAChannel() && !lettuce.isClosed()) {
                leave(mine);
            }
        }
    }
}
