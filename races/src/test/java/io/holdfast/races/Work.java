package io.holdfast.races;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** Work under a lock that ends when the race calls for it. */
public final class Work {

    // Written by the thread that subscribes, and by the one that cancels.
    private volatile @Nullable MonoSink<String> begun;
    private volatile boolean cancelled;

    public Mono<String> mono() {
        return Mono.create(sink -> {
            begun = sink;
            sink.onCancel(() -> cancelled = true);
        });
    }

    public void end() {
        MonoSink<String> sink = begun;
        if (sink != null) {
            sink.success("result");
        }
    }

    public String standing() {
        return cancelled ? "stopped" : begun == null ? "not begun" : "running";
    }
}
