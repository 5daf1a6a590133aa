package io.holdfast.cli.doctor;

import io.holdfast.LockException;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks a server the questions of the checks.
 *
 * @param server the first word of its checks in {@code checks.txt}
 * @param patience the longest time for the answers of one check; some may take a multiple of it
 */
record Questions(String server, Duration patience) {

    private static final Duration SLOW = Duration.ofMillis(20);
    private static final Duration MOST_SKEW = Duration.ofSeconds(1);
    private static final int PINGS = 100;
    private static final int MOST_OF_AN_ERROR = 240;

    /** Servers append what they did not understand to the error. It may be a password. */
    private static final String REPEATED = "with args beginning with";

    Finding finding(String check, Answer answer) {
        return new Finding(Check.of(server, check), answer.result(), answer.found());
    }

    Mono<Finding> ask(String check, Mono<Answer> question) {
        return ask(check, 1, question);
    }

    Mono<Finding> ask(String check, int times, Mono<Answer> question) {
        return question.timeout(patience.multipliedBy(times))
                .onErrorResume(error -> Mono.just(
                        Check.of(server, check).isUnknownAfterError()
                                ? Answer.unknown(text(error))
                                : Answer.fails(text(error))))
                .map(answer -> finding(check, answer));
    }

    /** Measures a request a hundred times, one after the other. */
    static Mono<Answer> latency(Mono<?> request) {
        return Flux.range(0, PINGS)
                .concatMap(i -> request.then(Mono.just(i)).timed())
                .map(it -> it.elapsedSinceSubscription())
                .sort()
                .collectList()
                .map(times -> Answer.is(
                        times.get(PINGS / 2).compareTo(SLOW) < 0,
                        "half of %d requests took less than %s, the slowest took %s"
                                .formatted(PINGS, millis(times.get(PINGS / 2)), millis(times.get(PINGS - 1)))));
    }

    /** Compares a server's clock, in microseconds since 1970, with that of this machine. */
    static Mono<Answer> clock(Mono<Long> server) {
        return Mono.defer(() -> {
            Instant before = Instant.now();
            return server.map(micros -> {
                Instant now =
                        before.plus(Duration.between(before, Instant.now()).dividedBy(2));
                Duration ahead = Duration.between(now, Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
                String side = ahead.isNegative() ? "behind" : "ahead of";
                return Answer.is(
                        ahead.abs().compareTo(MOST_SKEW) < 0,
                        "%s %s this machine".formatted(millis(ahead.abs()), side));
            });
        });
    }

    private static String millis(Duration time) {
        return String.format(Locale.ROOT, "%.1f ms", time.toNanos() / 1e6);
    }

    /** Returns what an error says, without what the request contained. */
    static String text(Throwable error) {
        Throwable cause = Exceptions.unwrap(error);
        while (!(cause instanceof LockException) && cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        if (cause instanceof TimeoutException || cause instanceof CompletionException) {
            return "no answer within the time limit";
        }
        String said =
                String.valueOf(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage());
        int repeated = said.indexOf(REPEATED);
        return Printable.start(repeated < 0 ? said : said.substring(0, repeated) + "…", MOST_OF_AN_ERROR);
    }
}
