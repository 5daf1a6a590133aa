package io.holdfast.redlock.internal.inspect;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.spi.support.Printable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The answers of the masters to one request.
 *
 * @param masters how many got the request
 * @param given the answers, by the names of their masters, in the order of the masters
 * @param failed the failures of the others, by name
 * @param <A> the kind of answer
 */
public record MasterAnswers<A>(int masters, Map<String, A> given, Map<String, Throwable> failed) {

    private sealed interface Said<A> {

        record Answer<A>(String master, A answer) implements Said<A> {}

        record Failure<A>(String master, Throwable error) implements Said<A> {}
    }

    /**
     * Sends a request to all masters at once.
     *
     * @param requests one for each master, by its name; each has its own time limit
     * @param lockName for messages; empty for all locks
     * @param subject the request, for messages
     * @return the answers; fails if no majority answered
     */
    public static <A> Mono<MasterAnswers<A>> send(Map<String, Mono<A>> requests, String lockName, String subject) {
        return Flux.fromIterable(requests.entrySet())
                .flatMapSequential(
                        each -> each.getValue()
                                .<Said<A>>map(answer -> new Said.Answer<>(each.getKey(), answer))
                                .onErrorResume(error -> Mono.just(new Said.Failure<>(each.getKey(), error))),
                        requests.size())
                .collectList()
                .flatMap(said -> {
                    MasterAnswers<A> answers = of(requests.size(), said);
                    return answers.hasMajority() ? Mono.just(answers) : Mono.error(answers.tooFew(lockName, subject));
                });
    }

    private static <A> MasterAnswers<A> of(int masters, List<Said<A>> said) {
        Map<String, A> given = new LinkedHashMap<>();
        Map<String, Throwable> failed = new LinkedHashMap<>();
        for (Said<A> each : said) {
            if (each instanceof Said.Answer<A> answer) {
                given.put(answer.master(), answer.answer());
            } else if (each instanceof Said.Failure<A> failure) {
                failed.put(failure.master(), failure.error());
            }
        }
        return new MasterAnswers<>(masters, given, failed);
    }

    private boolean hasMajority() {
        return given.size() > masters / 2;
    }

    private LockBackendException tooFew(String lockName, String subject) {
        return failure(
                lockName,
                "cannot %s: %d of %d masters answered, which is not a majority"
                        .formatted(subject, given.size(), masters));
    }

    private LockBackendException failure(String lockName, String text) {
        LockBackendException failure = new LockBackendException(
                lockName,
                failed.isEmpty() ? text : text + ". " + String.join(" ", silent()),
                true,
                failed.values().stream().findFirst().orElse(null));
        failed.values().stream().skip(1).forEach(failure::addSuppressed);
        return failure;
    }

    private List<String> silent() {
        return failed.entrySet().stream()
                .map(it -> "Master %s did not answer: %s."
                        .formatted(
                                it.getKey(),
                                Printable.text(String.valueOf(it.getValue().getMessage()))))
                .toList();
    }

    /**
     * Returns the holders of a lock.
     *
     * @throws LockBackendException if the masters that did not answer decide whether a claim holds
     */
    public static List<LockHolder> holders(MasterAnswers<List<LockHolder>> answers, String lockName) {
        Known known = Known.of(answers.masters(), answers.given());
        if (!known.isCertain()) {
            throw answers.failure(
                    lockName,
                    "cannot determine the holders of lock '%s': it depends on masters that did not answer. %s"
                            .formatted(lockName, String.join(" ", known.few())));
        }
        return known.holders();
    }

    /** Returns the locks of which any master has something, in the order of their reports. */
    public static List<LockReport> reports(MasterAnswers<List<LockReport>> answers) {
        Map<Lock, Map<String, LockReport>> byLock = new LinkedHashMap<>();
        answers.given()
                .forEach((master, reports) -> reports.forEach(report -> byLock.computeIfAbsent(
                                new Lock(report.name(), report.type()), lock -> new LinkedHashMap<>())
                        .put(master, report)));
        return byLock.entrySet().stream()
                .map(lock -> report(answers, lock.getKey(), lock.getValue()))
                .toList();
    }

    private record Lock(String name, LockReport.Type type) {}

    private static LockReport report(MasterAnswers<?> answers, Lock lock, Map<String, LockReport> seen) {
        Map<String, List<LockHolder>> holders = new LinkedHashMap<>();
        answers.given().keySet().forEach(master -> holders.put(master, List.of()));
        seen.forEach((master, report) -> holders.put(master, report.holders()));
        Known known = Known.of(answers.masters(), holders);
        List<String> warnings = new ArrayList<>(known.few());
        seen.forEach((master, report) -> report.warnings().forEach(it -> warnings.add(master + ": " + it)));
        warnings.addAll(answers.silent());
        Map<String, LockWaiter> waiters = new LinkedHashMap<>();
        seen.values().forEach(report -> report.waiters().forEach(it -> waiters.putIfAbsent(it.claimId(), it)));
        OptionalLong token = seen.values().stream()
                .flatMapToLong(it -> it.lastToken().stream())
                .max();
        return new LockReport(
                lock.name(),
                lock.type(),
                known.holders().size(),
                known.holders(),
                waiters.size(),
                List.copyOf(waiters.values()),
                token,
                wantsOf(seen),
                warnings);
    }

    /** Shows the hints that waiters want: a waiting claim requests one from each master. */
    private static Map<String, String> wantsOf(Map<String, LockReport> seen) {
        String wants = seen.entrySet().stream()
                .filter(it -> it.getValue().details().containsKey("want a hint"))
                .map(it -> it.getValue().details().get("want a hint") + " at " + it.getKey())
                .collect(Collectors.joining(", "));
        return wants.isEmpty() ? Map.of() : Map.of("want a hint", wants);
    }
}
