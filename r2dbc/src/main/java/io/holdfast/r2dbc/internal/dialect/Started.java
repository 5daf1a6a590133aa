package io.holdfast.r2dbc.internal.dialect;

import io.holdfast.spi.support.Fallible;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/** A call to the driver, made at once. */
public final class Started {

    private Started() {}

    /** Also an error of the JVM, which Reactor's operators throw instead of passing it on, ends the call. */
    public static <T> CompletableFuture<T> call(Supplier<Mono<T>> call) {
        try {
            return call.get().toFuture();
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(Fallible.passable(thrown));
        }
    }
}
