package io.holdfast.micrometer;

import io.holdfast.micrometer.LockObservationContext.Operation;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/** Makes one observation for each subscription to a source. The source can report its lease to the observation. */
final class ObservedFlux<T> extends Flux<T> {

    private final Observing observing;
    private final Operation operation;
    private final Observing.Subject subject;
    private final Function<@Nullable Watched, Flux<T>> source;

    ObservedFlux(
            Observing observing,
            Operation operation,
            Observing.Subject subject,
            Function<@Nullable Watched, Flux<T>> source) {
        this.observing = observing;
        this.operation = operation;
        this.subject = subject;
        this.source = source;
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> actual) {
        Watched watched = observing.watch(operation, subject, actual.currentContext());
        // As a CoreSubscriber: otherwise Reactor's automatic context propagation would open a scope of the observation
        // before it has
        // started.
        source.apply(watched).subscribe(watched == null ? actual : new WatchingSubscriber<T>(actual, watched));
    }
}
