package io.holdfast.spi.support;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * A closing that begins at the call, and not at the subscription to its {@code Mono}: {@code client.close();} as a
 * statement must close. For clients and back ends. Thread-safe.
 */
public final class Closing {

    private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

    private final String what;
    private final Mono<Void> shared;
    private final AtomicBoolean isBegun = new AtomicBoolean();
    private final AtomicBoolean isObserved = new AtomicBoolean();

    /**
     * Makes a closing that has not begun.
     *
     * @param what the object that is closed, for the log
     * @param work closes the object; subscribed to once, by the first {@link #begin}
     */
    public Closing(String what, Mono<Void> work) {
        this.what = requireNonNull(what, "what");
        shared = requireNonNull(work, "work").cache();
    }

    /**
     * Begins to close, at the first call. Never blocks, if the work does not.
     *
     * @return signals the end, also to a late subscriber. You may ignore it: the closing goes on, and a failure without
     *     a subscriber is logged. Cancelling it has no effect
     */
    public Mono<Void> begin() {
        if (isBegun.compareAndSet(false, true)) {
            // the only subscription without an owner among the callers
            var unused = shared.subscribe(nothing -> {}, this::failed);
        }
        return shared.doOnSubscribe(subscription -> isObserved.set(true));
    }

    private void failed(Throwable error) {
        if (!isObserved.get()) {
            LOG.warn("{} did not close in order", what, error);
        }
    }
}
