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
 * One check, and what to say if it does not work.
 *
 * @param cost what follows if it does not work
 * @param help what to do then
 */
record Check(String name, boolean isNeeded, String cost, String help) {

    /** The longest time for the answers of one check. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final Duration SLOW = Duration.ofMillis(20);
    private static final Duration MOST_SKEW = Duration.ofSeconds(1);
    private static final int PINGS = 100;
    private static final int MOST_OF_AN_ERROR = 240;

    /** Servers append what they did not understand to the error. It may be a password. */
    private static final String REPEATED = "with args beginning with";

    static Check needed(String name, String cost, String help) {
        return new Check(name, true, cost, help);
    }

    static Check optional(String name, String cost, String help) {
        return new Check(name, false, cost, help);
    }

    Finding works(String found) {
        return finding(Finding.Result.WORKS, found);
    }

    Finding fails(String found) {
        return finding(Finding.Result.FAILS, found);
    }

    Finding unknown(String found) {
        return finding(Finding.Result.UNKNOWN, found);
    }

    Finding is(boolean isGood, String found) {
        return isGood ? works(found) : fails(found);
    }

    private Finding finding(Finding.Result result, String found) {
        return new Finding(name, isNeeded, result, found, cost, help);
    }

    /** An error or a silence means that it does not work. */
    Mono<Finding> ask(Mono<Finding> question) {
        return ask(question, PATIENCE);
    }

    Mono<Finding> ask(Mono<Finding> question, Duration limit) {
        return question.timeout(limit).onErrorResume(error -> Mono.just(fails(text(error))));
    }

    /** For a question that the user may be forbidden to ask: an error means that it is not known. */
    Mono<Finding> askIfAllowed(Mono<Finding> question) {
        return question.timeout(PATIENCE).onErrorResume(error -> Mono.just(unknown(text(error))));
    }

    /** Measures a question a hundred times, one after the other. */
    Mono<Finding> latency(Mono<?> question) {
        return ask(
                Flux.range(0, PINGS)
                        .concatMap(i -> question.then(Mono.just(i)).timed())
                        .map(it -> it.elapsedSinceSubscription())
                        .sort()
                        .collectList()
                        .map(times -> is(
                                times.get(PINGS / 2).compareTo(SLOW) < 0,
                                "half of %d requests took less than %s, the slowest took %s"
                                        .formatted(PINGS, millis(times.get(PINGS / 2)), millis(times.get(PINGS - 1))))),
                PATIENCE.multipliedBy(2));
    }

    /** Compares a server's clock with that of this machine. */
    Mono<Finding> clock(Mono<Instant> question) {
        return askIfAllowed(Mono.defer(() -> {
            Instant before = Instant.now();
            return question.map(server -> {
                Instant middle =
                        before.plus(Duration.between(before, Instant.now()).dividedBy(2));
                Duration ahead = Duration.between(middle, server);
                return is(
                        ahead.abs().compareTo(MOST_SKEW) < 0,
                        "%s %s this machine"
                                .formatted(millis(ahead.abs()), ahead.isNegative() ? "behind" : "ahead of"));
            });
        }));
    }

    static Instant instant(long epochMicros) {
        return Instant.EPOCH.plus(epochMicros, ChronoUnit.MICROS);
    }

    static String millis(Duration time) {
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
