package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.dialect.SessionSettings;
import io.holdfast.r2dbc.internal.dialect.Started;
import io.holdfast.r2dbc.internal.error.NoAnswerException;
import io.holdfast.spi.support.Deadlines;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ValidationDepth;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.scheduler.Scheduler;

/**
 * Opens and closes connections, and limits the time of their requests. A request is never cancelled, because a driver may leave a cancelled
 * exchange half done. If it takes too long, this class drops its connection.
 *
 * @param factory opens a new connection each time; not a pool
 * @param deadlines the time limits of all requests
 * @param opening the limits of the next connection
 */
public record Connections(
        ConnectionFactory factory,
        Dialect dialect,
        SessionSettings settings,
        Scheduler timer,
        Deadlines deadlines,
        AtomicReference<OpeningLimit> opening) {

    /** Creates the time limits, too. */
    public Connections(ConnectionFactory factory, Dialect dialect, SessionSettings settings, Scheduler timer) {
        this(
                factory,
                dialect,
                settings,
                timer,
                new Deadlines(timer),
                new AtomicReference<>(OpeningLimit.first(settings.replyTimeout())));
    }

    /** Opens a connection with the settings of this library. Fails if that takes too long. A connection that opens later is closed. */
    public Mono<Session> open() {
        return open(made -> Started.call(() -> Mono.fromFuture(made, true).flatMap(this::prepared)));
    }

    private Mono<Session> prepared(Connection fresh) {
        return dialect.prepare(fresh, settings).doOnError(unusable -> close(fresh));
    }

    /**
     * Opens a connection without these settings, which need a client's rights, and closes it after the work.
     *
     * @param work each of its steps is limited
     */
    public <T> Mono<T> once(Function<Connection, Mono<T>> work) {
        return Mono.usingWhen(
                open(made -> made), work, this::ended, this::closed, used -> Mono.fromRunnable(() -> close(used)));
    }

    /** Begins to open a connection. If none may begin now, none opens in time. */
    private <T> Mono<T> open(Function<CompletableFuture<Connection>, CompletableFuture<T>> ready) {
        return Mono.defer(() -> {
            long now = timer.now(TimeUnit.NANOSECONDS);
            OpeningLimit before = opening.getAndUpdate(it -> it.begun(now));
            if (!before.mayBegin(now)) {
                return bounded(new CompletableFuture<>(), before.limit());
            }
            CompletableFuture<Connection> made = Started.call(() -> Mono.<Connection>from(factory.create()));
            return opened(made, ready.apply(made));
        });
    }

    private <T> Mono<T> opened(CompletableFuture<Connection> made, CompletableFuture<T> ready) {
        Mono<T> inTime = bounded(ready, opening.get().limit());
        return inTime.doOnNext(usable -> opening.updateAndGet(OpeningLimit::opened))
                .doOnError(NoAnswerException.class, late -> {
                    int successes =
                            opening.updateAndGet(OpeningLimit::tookTooLong).successes();
                    // The connection may be open but silent, it may open later, or it may fail as well.
                    CompletableFuture<Void> unused = made.whenComplete(
                                    (fresh, error) -> opening.updateAndGet(it -> it.ended(successes)))
                            .thenAccept(this::drop);
                });
    }

    /** Makes the call, and emits its answer, or an error after the time limit. */
    public <T> Mono<T> limited(Supplier<Mono<T>> call) {
        return Mono.defer(() -> bounded(Started.call(call), settings.replyTimeout()));
    }

    /** An error after the time limit must not reach the log. */
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

    /** The outcome of a call, or of its time limit. */
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

    /** Whether the connection is still open, as far as the driver knows. */
    public Mono<Boolean> isOpen(Session session) {
        return Mono.fromFuture(
                () -> Started.call(() -> Mono.from(session.connection().validate(ValidationDepth.LOCAL))), true);
    }

    /**
     * Closes a connection on which the server is silent. First it interrupts the server, which might work on for long and keep one of its
     * sessions. If that takes too long, it goes on in the background, and its own connection is closed in any case.
     */
    public void abandon(Session silent) {
        Mono<Void> interrupted =
                silent.name().isEmpty() ? Mono.empty() : once(open -> limited(() -> dialect.interrupt(silent, open)));
        Disposable unused = limited(() -> interrupted)
                .subscribe(nothing -> {}, error -> drop(silent.connection()), () -> drop(silent.connection()));
    }

    /** Closes the connection. The outcome does not matter. */
    public Mono<Void> ended(Connection last) {
        return this.<Void>limited(() -> Mono.from(last.close())).onErrorComplete();
    }

    /** Begins to close the connection. The outcome does not matter. */
    public void close(Connection connection) {
        end(() -> Mono.from(connection.close()));
    }

    /** Begins to close a connection on which the server is silent. */
    private void drop(Connection silent) {
        end(() -> dialect.drop(silent));
    }

    /** Begins the closing, and does not wait for its end. */
    private static void end(Supplier<Mono<Void>> closing) {
        CompletableFuture<Void> unused = Started.call(closing);
    }

    /** Closes the connection after an error of a call. */
    private Mono<Void> closed(Connection used, Throwable error) {
        return error instanceof TimeoutException ? Mono.fromRunnable(() -> drop(used)) : ended(used);
    }
}
