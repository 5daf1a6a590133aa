package io.holdfast.r2dbc.internal.mariadb;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ValidationDepth;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.concurrent.Queues;

/** Works around a defect of r2dbc-mysql. */
final class MySqlDriver {

    /** The driver's queue has the size of Reactor's small queues, rounded up to a power of two. */
    private static final int MORE_THAN_FIT = 2 * Queues.SMALL_BUFFER_SIZE;

    private MySqlDriver() {}

    /**
     * Closes a connection that gives no answers. The driver sends its end message only after the answer under way, so it would wait for
     * ever (<a href="https://github.com/asyncer-io/r2dbc-mysql/issues/349">issue 349</a>). But its queue of requests is bounded. If that
     * queue is full, the driver closes the network connection at once. So pings fill the queue; none of them is sent.
     */
    static Mono<Void> drop(Connection silent) {
        Flux<Boolean> pings =
                Flux.range(0, MORE_THAN_FIT).flatMap(number -> silent.validate(ValidationDepth.REMOTE), MORE_THAN_FIT);
        return Flux.merge(pings.then(), Mono.from(silent.close())).then();
    }
}
