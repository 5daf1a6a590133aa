package io.holdfast.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the calls of handlers for lock observations. */
final class Recorder implements ObservationHandler<LockObservationContext> {

    final List<LockObservationContext> started = new CopyOnWriteArrayList<>();
    final List<LockObservationContext> stopped = new CopyOnWriteArrayList<>();
    final List<String> calls = new CopyOnWriteArrayList<>();

    /** Runs at each event. */
    Runnable onEvent = () -> {};

    /** Runs at each end. */
    Runnable onStop = () -> {};

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }

    @Override
    public void onStart(LockObservationContext context) {
        started.add(context);
        calls.add("start");
    }

    @Override
    public void onEvent(Observation.Event event, LockObservationContext context) {
        calls.add(event.getName());
        onEvent.run();
        calls.add("/" + event.getName());
    }

    @Override
    public void onStop(LockObservationContext context) {
        stopped.add(context);
        calls.add("stop");
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
