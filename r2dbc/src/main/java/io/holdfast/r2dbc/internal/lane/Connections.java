package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.spi.Deadlines;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.scheduler.Scheduler;

/**
 * Opens and ends connections, and bounds what is asked on them. Nothing is ever cancelled: a driver may leave a cancelled exchange half done. What takes
 * too long is left to itself, and its connection is given up.
 *
 * @param factory makes a new connection each time; no pool
 * @param deadlines the time limits of all that is asked
 */
public record Connections(
        ConnectionFactory factory, Dialect dialect, SessionSettings settings, Scheduler timer, Deadlines deadlines) {

    /** With time limits of their own. */
    public Connections(ConnectionFactory factory, Dialect dialect, SessionSettings settings, Scheduler timer) {
        this(factory, dialect, settings, timer, new Deadlines(timer));
    }

    /** A connection with our settings; fails after the time limit of a reply. One that comes later is closed. */
    public Mono<Connection> open() {
        return Mono.defer(() -> {
            CompletableFuture<Connection> opening = Mono.<Connection>from(factory.create())
                    .flatMap(this::prepared)
                    .toFuture();
            return bounded(opening).doOnError(late -> {
                // It fails as well, or comes now or later.
                CompletableFuture<Void> unused = opening.thenAccept(this::close);
            });
        });
    }

    private Mono<Connection> prepared(Connection fresh) {
        return dialect.prepare(fresh, settings).thenReturn(fresh).doOnError(unusable -> close(fresh));
    }

    /** The answer to a call, or an error after the time limit. */
    public <T> Mono<T> limited(Mono<T> call) {
        return Mono.defer(() -> bounded(call.toFuture()));
    }

    /** What comes after the time limit is no error for the log. */
    private <T> Mono<T> bounded(CompletableFuture<T> call) {
        TimeLimit<T> limit = new TimeLimit<>(settings.replyTimeout());
        deadlines.set(
                limit, timer.now(TimeUnit.NANOSECONDS) + settings.replyTimeout().toNanos());
        CompletableFuture<Void> unused = call.handle((answer, error) -> {
            deadlines.off(limit);
            limit.outcome.complete(signal(answer, error));
            return null;
        });
        return Mono.fromFuture(limit.outcome, true).dematerialize();
    }

    /** The outcome of a call, or of waiting for it. */
    private static final class TimeLimit<T> extends Deadlines.Deadline {

        private final CompletableFuture<Signal<T>> outcome = new CompletableFuture<>();
        private final Duration length;

        TimeLimit(Duration length) {
            this.length = length;
        }

        @Override
        protected void passed() {
            outcome.complete(Signal.error(new TimeoutException("no answer within %d ms".formatted(length.toMillis()))));
        }
    }

    private static <T> Signal<T> signal(@Nullable T answer, @Nullable Throwable error) {
        if (error != null) {
            return Signal.error(error);
        }
        return answer == null ? Signal.complete() : Signal.next(answer);
    }

    /** The connection, or a new one if it has ended: so a call on an idle connection that was ended does not fail. */
    public Mono<Connection> living(Connection connection) {
        return Mono.from(connection.validate(ValidationDepth.LOCAL))
                .flatMap(isOpen -> isOpen ? Mono.just(connection) : open());
    }

    /** Closes a connection on which the server is silent. It may go on with its work for long, in a session that takes one of its places. */
    public void abandon(Connection silent) {
        Disposable unused = limited(dialect.interrupt(silent))
                .subscribe(nothing -> {}, error -> close(silent), () -> close(silent));
    }

    /** Begins to close it; what that leads to does not matter. The one place that subscribes to this. */
    public void close(Connection connection) {
        Disposable unused = Mono.from(connection.close()).subscribe(nothing -> {}, error -> {});
    }
}
