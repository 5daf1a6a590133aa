package io.holdfast.proof.sim;

import io.holdfast.testkit.history.HistoryEvent;
import java.util.List;

/** The steps of one lock in a schedule, which are compared with a model. */
interface LockTrace {

    /** Notes what users believe. */
    void happened(HistoryEvent event);

    /** A client is closed: its leases are invalid at once, before it gives them back. */
    void closes(int client);

    /** Returns what ended the trace early; empty if it is complete. */
    String ended();

    /** Returns the steps in TLA+; none if there are more claims than the model knows. */
    List<String> steps();
}
