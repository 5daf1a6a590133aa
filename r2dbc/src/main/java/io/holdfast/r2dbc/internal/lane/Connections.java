package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.error.NoAnswerException;
import io.holdfast.spi.Deadlines;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
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
 * @param opening the time limit of the next connection
 */
public record Connections(
        ConnectionFactory factory,
        Dialect dialect,
        SessionSettings settings,
        Scheduler timer,
        Deadlines deadlines,
        AtomicReference<OpeningLimit> opening) {

    /** With time limits of their own. */
    public Connections(ConnectionFactory factory, Dialect dialect, SessionSettings settings, Scheduler timer) {
        this(
                factory,
                dialect,
                settings,
                timer,
                new Deadlines(timer),
                new AtomicReference<>(OpeningLimit.first(settings.replyTimeout())));
    }

    /** A connection with our settings; fails when it takes too long. One that comes later is closed. */
    public Mono<Session> open() {
        return Mono.defer(() -> {
            CompletableFuture<Connection> made =
                    Mono.<Connection>from(factory.create()).toFuture();
            Mono<Session> prepared = Mono.fromFuture(made, true).flatMap(this::prepared);
            return opened(made, prepared.toFuture());
        });
    }

    private Mono<Session> prepared(Connection fresh) {
        return dialect.prepare(fresh, settings).doOnError(unusable -> close(fresh));
    }

    /** A connection without our settings, which need a client's rights; as {@link #open} in all else. */
    public Mono<Connection> openBare() {
        return Mono.defer(() -> {
            CompletableFuture<Connection> made =
                    Mono.<Connection>from(factory.create()).toFuture();
            return opened(made, made);
        });
    }

    private <T> Mono<T> opened(CompletableFuture<Connection> made, CompletableFuture<T> ready) {
        Mono<T> inTime = bounded(ready, opening.get().limit());
        return inTime.doOnNext(usable -> opening.updateAndGet(OpeningLimit::opened))
                .doOnError(NoAnswerException.class, late -> {
                    opening.updateAndGet(OpeningLimit::tookTooLong);
                    // It is there, and silent; or it comes later, or fails as well.
                    CompletableFuture<Void> unused = made.thenAccept(this::drop);
                });
    }

    /** The answer to a call, or an error after the time limit. */
    public <T> Mono<T> limited(Mono<T> call) {
        return Mono.defer(() -> bounded(call.toFuture(), settings.replyTimeout()));
    }

    /** What comes after the time limit is no error for the log. */
    private <T> Mono<T> bounded(CompletableFuture<T> call, Duration length) {
        TimeLimit<T> limit = new TimeLimit<>(length);
        deadlines.set(limit, timer.now(TimeUnit.NANOSECONDS) + length.toNanos());
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
            outcome.complete(Signal.error(new NoAnswerException(length)));
        }
    }

    private static <T> Signal<T> signal(@Nullable T answer, @Nullable Throwable error) {
        if (error != null) {
            return Signal.error(error);
        }
        return answer == null ? Signal.complete() : Signal.next(answer);
    }

    /** Whether its connection has not ended, as far as the driver knows. */
    public Mono<Boolean> isOpen(Session session) {
        return Mono.from(session.connection().validate(ValidationDepth.LOCAL));
    }

    /** Closes a connection on which the server is silent. It may go on with its work for long, in a session that takes one of its places. */
    public void abandon(Session silent) {
        Disposable unused = limited(dialect.interrupt(silent, openBare()))
                .subscribe(nothing -> {}, error -> drop(silent.connection()), () -> drop(silent.connection()));
    }

    /** Begins to close it; what that leads to does not matter. */
    public void close(Connection connection) {
        end(Mono.from(connection.close()));
    }

    /** Begins to close one on which the server is silent. */
    private void drop(Connection silent) {
        end(dialect.drop(silent));
    }

    /** The one place that subscribes to this. */
    private static void end(Mono<Void> closing) {
        Disposable unused = closing.subscribe(nothing -> {}, error -> {});
    }

    /** Closes it after an error of a call. */
    public Mono<Void> closed(Connection used, Throwable error) {
        return error instanceof TimeoutException
                ? Mono.fromRunnable(() -> drop(used))
                : limited(Mono.from(used.close())).onErrorComplete();
    }
}
