package io.holdfast.r2dbc.internal.dialect;

import io.holdfast.r2dbc.internal.protocol.Push;
import reactor.core.publisher.Flux;

/** A connection on which a client receives the messages for its claims. */
public interface Listening {

    /** Emits the messages until the connection ends. For one subscriber. */
    Flux<Push> heard();

    /**
     * A claim of this client waits from now on. If the database has no notifications, the messages are read at once, unless they were read
     * a moment ago.
     */
    void claimWaits();
}
