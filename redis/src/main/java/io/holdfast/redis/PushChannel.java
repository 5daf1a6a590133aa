package io.holdfast.redis;

import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
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

    /** Two threads meet at one watch only for as long as one of them hands a signal over. */
    private static final Sinks.EmitFailureHandler RETRY = Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1));

    private enum State {
        CLOSED,
        OPENING,
        OPEN,
        /** The server does not let us subscribe: claims poll from then on. */
        REFUSED
    }

    private final LettuceClient lettuce;
    private final String name;
    private final RedisFailures failures;
    private final Consumer<PushMessage> giveBack;

    private final ConcurrentMap<String, List<Sinks.Many<WatchSignal>>> watches = new ConcurrentHashMap<>();
    private final AtomicReference<State> state = new AtomicReference<>(State.CLOSED);

    /** Written by the driver's thread: whether the server has confirmed the subscription on the present connection. */
    private volatile boolean isUp;

    /**
     * A closed channel.
     *
     * @param giveBack releases a grant that nobody here waits for
     */
    PushChannel(LettuceClient lettuce, String name, RedisFailures failures, Consumer<PushMessage> giveBack) {
        this.lettuce = lettuce;
        this.name = name;
        this.failures = failures;
        this.giveBack = giveBack;
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

    /** Opens the channel if this claim is watched and that was not done yet. Returns at once. */
    void openFor(String claimId) {
        if (state.get() == State.CLOSED
                && watches.containsKey(claimId)
                && state.compareAndSet(State.CLOSED, State.OPENING)) {
            var unused = lettuce.connectPubSub().whenComplete(this::connected);
        }
    }

    private void connected(
            @Nullable StatefulRedisPubSubConnection<String, String> connection, @Nullable Throwable error) {
        if (connection == null) {
            // The next look that has to wait tries again; until then the claim is polled.
            state.set(State.CLOSED);
            return;
        }
        connection.addListener(new Messages());
        connection.addListener(new Interruptions());
        var unused = connection.async().subscribe(name).whenComplete((done, failed) -> {
            if (failed == null) {
                state.set(State.OPEN);
            } else {
                var unusedClosing = connection.closeAsync();
                refuse(failed);
            }
        });
    }

    private void refuse(Throwable error) {
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

        /** Comes for the first subscription and for each one that the driver makes after a reconnect. */
        @Override
        public void subscribed(String channel, long count) {
            arm();
        }

        @Override
        public void message(String channel, String text) {
            receive(text);
        }
    }

    private final class Interruptions implements RedisConnectionStateListener {

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            isUp = false;
        }
    }
}
