package io.holdfast.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what handlers are told of lock observations. */
final class Recorder implements ObservationHandler<LockObservationContext> {

    final List<LockObservationContext> started = new CopyOnWriteArrayList<>();
    final List<LockObservationContext> stopped = new CopyOnWriteArrayList<>();
    final List<String> told = new CopyOnWriteArrayList<>();

    /** Run when the event is told. */
    Runnable onEvent = () -> {};

    /** Run when the end is told. */
    Runnable onStop = () -> {};

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }

    @Override
    public void onStart(LockObservationContext context) {
        started.add(context);
        told.add("start");
    }

    @Override
    public void onEvent(Observation.Event event, LockObservationContext context) {
        told.add(event.getName());
        onEvent.run();
        told.add("/" + event.getName());
    }

    @Override
    public void onStop(LockObservationContext context) {
        stopped.add(context);
        told.add("stop");
        onStop.run();
    }

    String outcomes() {
        return String.join(
                " ",
                stopped.stream()
                        .map(it -> it.getLowCardinalityKeyValue("outcome").getValue())
                        .toList());
    }
}
