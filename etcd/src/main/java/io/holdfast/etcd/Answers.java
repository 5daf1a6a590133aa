package io.holdfast.etcd;

import io.holdfast.spi.support.Fallible;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Turns the futures of the driver into publishers. */
final class Answers {

    private record Answer<T>(@Nullable T value, @Nullable Throwable error) {
        Mono<T> get() {
            return error == null ? Mono.justOrEmpty(value) : Mono.error(error);
        }
    }

    private Answers() {}

    /** Each subscription sends once. A failure that comes after a cancellation is dropped without a log line: the client has given up. */
    static <T> Mono<T> of(Supplier<CompletableFuture<T>> request) {
        return Mono.fromFuture(() -> sent(request).handle(Answers::answer), true)
                .flatMap(Answer::get);
    }

    private static <T> CompletableFuture<T> sent(Supplier<CompletableFuture<T>> request) {
        try {
            return request.get();
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private static <T> Answer<T> answer(@Nullable T value, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException wrapped ? wrapped.getCause() : null;
        Throwable known = cause == null ? error : cause;
        return new Answer<>(value, known == null ? null : Fallible.passable(known));
    }
}
