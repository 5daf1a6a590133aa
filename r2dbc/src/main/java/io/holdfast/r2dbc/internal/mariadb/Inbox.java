package io.holdfast.r2dbc.internal.mariadb;

import io.holdfast.r2dbc.internal.dialect.InboxSettings;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.dialect.Started;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Reads the messages for a client from a table while its claims wait: soon after it has read some, then less and less often. One
 * query serves all of its claims. It also writes a sign of life each second. While no claim waits, it neither reads nor writes.
 */
final class Inbox implements Listening {

    /** The procedures count a client as dead after three times this. */
    private static final long BEAT_NANOS = Duration.ofSeconds(1).toNanos();

    private static final int MOST_AT_ONCE = 512;

    private static final String NOW = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))";

    private static final String BEAT = "insert into holdfast_client (channel, seen_us) values ('%s', " + NOW
            + ") on duplicate key update seen_us = " + NOW;

    private static final String READ =
            "select n, concat_ws(' ', 0, word, token, ms, attempt, channel, id) from holdfast_inbox where channel = '%s' order by n limit "
                    + MOST_AT_ONCE;

    private final Connection connection;
    private final String channel;
    private final InboxSettings settings;

    /** Ends a pause while no claim waits. Written by the loop, before it checks whether one waits. */
    private volatile Sinks.Empty<Void> wake = Sinks.empty();

    /** Written by the loop, and by claims that begin to wait. */
    private volatile long newsNanos;

    /** Written by the loop. */
    private long beatenNanos;

    private record Message(long number, Push push) {}

    private Inbox(Connection connection, String channel, InboxSettings settings) {
        this.connection = connection;
        this.channel = channel;
        this.settings = settings;
        newsNanos = now();
    }

    /** Emits the inbox. Other clients count this client as alive from now on. */
    static Mono<Listening> open(Connection connection, String channel, InboxSettings settings) {
        return Mono.defer(() -> {
            Inbox inbox = new Inbox(connection, channel, settings);
            return inbox.beat().thenReturn(inbox);
        });
    }

    @Override
    public void claimWaits() {
        newsNanos = now();
        Sinks.EmitResult unused = wake.tryEmitEmpty();
    }

    @Override
    public Flux<Push> heard() {
        return Flux.defer(this::poll).repeatWhen(polls -> polls.concatMap(count -> pause(count > 0)));
    }

    private Mono<Boolean> pause(boolean hasHeard) {
        Sinks.Empty<Void> next = Sinks.empty();
        wake = next;
        if (!settings.hasWaiting().getAsBoolean()) {
            return next.asMono().thenReturn(true);
        }
        if (hasHeard) {
            newsNanos = now();
        }
        return Mono.delay(settings.pauseAfter(Duration.ofNanos(now() - newsNanos)), settings.timer())
                .thenReturn(true);
    }

    /** Reads new messages. It deletes them after it has emitted them: a claim that gets a message twice takes no harm. */
    private Flux<Push> poll() {
        boolean isBeatDue = now() - beatenNanos >= BEAT_NANOS;
        Mono<List<Message>> question = (isBeatDue ? beat() : Mono.<Void>empty()).then(read().collectList());
        return limited(() -> question)
                .flatMapMany(messages -> messages.isEmpty()
                        ? Flux.empty()
                        : Flux.fromIterable(messages).map(Message::push).concatWith(delete(messages)));
    }

    private Flux<Message> read() {
        return Flux.defer(() -> Flux.<Result>from(
                        connection.createStatement(READ.formatted(channel)).execute())
                .concatMap(result -> result.map(Inbox::message)));
    }

    private static Message message(Readable row) {
        String line = Objects.requireNonNull(row.get(1, String.class));
        return new Message(
                Objects.requireNonNull(row.get(0, Long.class)),
                Push.of(Answer.lines(line).get(0)));
    }

    private <T> Mono<T> delete(List<Message> messages) {
        String numbers = messages.stream().map(it -> Long.toString(it.number())).collect(Collectors.joining(", "));
        return limited(() -> MariaDbDialect.run(connection, "delete from holdfast_inbox where n in (" + numbers + ")"))
                .then(Mono.empty());
    }

    /** A query that takes longer is not cancelled: the driver would log an error that comes after a cancellation. */
    private <T> Mono<T> limited(Supplier<Mono<T>> exchange) {
        return Mono.fromFuture(() -> Started.call(exchange), true).timeout(settings.replyTimeout(), settings.timer());
    }

    private Mono<Void> beat() {
        return Mono.defer(() -> {
            beatenNanos = now();
            return MariaDbDialect.run(connection, BEAT.formatted(channel));
        });
    }

    private long now() {
        return settings.timer().now(TimeUnit.NANOSECONDS);
    }
}
