package io.holdfast.redis;

import io.holdfast.spi.WatchSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Sinks;

/** A claim that is watched: who is told, and the server where it waits. */
final class Watched {

    private static final AtomicReferenceFieldUpdater<Watched, @Nullable PushLine> LINE =
            AtomicReferenceFieldUpdater.newUpdater(Watched.class, PushLine.class, "line");

    /** Which server has its key, see {@link Route#groupOf}. */
    private final int group;

    /** Replaced within the map's own update. */
    private volatile List<Sinks.Many<WatchSignal>> sinks;

    /** Written by the watch with what the map of the cluster says, then by each look that is sent; null when its key has moved. */
    private volatile @Nullable PushLine line;

    Watched(int group, @Nullable PushLine line, Sinks.Many<WatchSignal> sink) {
        this.group = group;
        this.line = line;
        sinks = List.of(sink);
    }

    int group() {
        return group;
    }

    @Nullable
    PushLine line() {
        return line;
    }

    /** Tells where its next look will be answered. True when that is not where its signals came from so far. */
    boolean moveTo(PushLine next) {
        return LINE.getAndSet(this, next) != next;
    }

    /** Leaves a server that has its key no more. False when it has left already. */
    boolean leave(PushLine former) {
        return LINE.compareAndSet(this, former, null);
    }

    Watched with(Sinks.Many<WatchSignal> one) {
        List<Sinks.Many<WatchSignal>> all = new ArrayList<>(sinks);
        all.add(one);
        sinks = List.copyOf(all);
        return this;
    }

    /** Null when nobody is left. */
    @Nullable
    Watched without(Sinks.@Nullable Many<WatchSignal> one) {
        if (sinks.size() == 1 && sinks.get(0) == one) {
            sinks = List.of(); // nearly always
            return null;
        }
        sinks = sinks.stream().filter(other -> other != one).toList();
        return sinks.isEmpty() ? null : this;
    }

    void each(Consumer<Sinks.Many<WatchSignal>> told) {
        sinks.forEach(told);
    }
}
