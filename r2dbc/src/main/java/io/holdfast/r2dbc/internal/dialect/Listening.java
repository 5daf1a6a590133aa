package io.holdfast.r2dbc.internal.dialect;

import io.holdfast.r2dbc.internal.protocol.Push;
import reactor.core.publisher.Flux;

/** A connection on which a client is told what concerns its claims. */
public interface Listening {

    /** What is heard, until the connection ends. For one subscriber. */
    Flux<Push> heard();

    /** A claim of this client waits from now on. A database that has to be asked for news is asked at once, if it was not asked lately. */
    void claimWaits();
}
