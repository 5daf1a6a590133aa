package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * An end that begins when it is asked for, and not when its {@code Mono} is subscribed to: {@code client.close();} as a statement must
 * close. For clients and back ends. Thread-safe.
 */
public final class Closing {

    private static final Logger LOG = LoggerFactory.getLogger(Closing.class);

    private final String what;
    private final Mono<Void> shared;
    private final AtomicBoolean isBegun = new AtomicBoolean();
    private final AtomicBoolean isObserved = new AtomicBoolean();

    /**
     * An end that has not begun.
     *
     * @param what what is closed, for the log
     * @param work closes it; subscribed to once, by the first {@link #begin}
     */
    public Closing(String what, Mono<Void> work) {
        this.what = requireNonNull(what, "what");
        shared = requireNonNull(work, "work").cache();
    }

    /**
     * Begins to close, the first time that it is called. Never blocks, if the work does not.
     *
     * @return tells the end, also when it is past; may be ignored: the closing goes on, and a failure that no subscriber sees is logged.
     *     Cancelling it cancels nothing
     */
    public Mono<Void> begin() {
        if (isBegun.compareAndSet(false, true)) {
            var unused = shared.subscribe(nothing -> {}, this::failed); // the one subscription that no caller owns
        }
        return shared.doOnSubscribe(subscription -> isObserved.set(true));
    }

    private void failed(Throwable error) {
        if (!isObserved.get()) {
            LOG.warn("{} did not close in order", what, error);
        }
    }
}
