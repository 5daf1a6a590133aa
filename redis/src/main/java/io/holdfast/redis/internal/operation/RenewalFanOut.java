package io.holdfast.redis.internal.operation;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Renews claims whose keys are at several masters: one request for each group of keys that one script call may have,
 * all at once. The claims of a group that fails or is late become unknown; the other groups are not affected.
 *
 * @param groupOf see {@code Topology.groupOf}
 * @param renew sends one request
 */
record RenewalFanOut(
        DriverClient driver,
        ExceptionTranslator failures,
        Function<LockClaim, Integer> groupOf,
        Function<List<LockClaim>, Mono<List<Renewal>>> renew) {

    /**
     * How much later than the first answer another one may come. The engine's time limit covers all of them: a master
     * that hangs would use it up, and the answers of the others would be lost.
     */
    private static final Duration GRACE = Duration.ofMillis(250);

    /** For short leases: half of the engine's limit, by default. */
    private static final int GRACES_PER_LEASE = 8;

    /** Emits the answers in the order of the claims. */
    Mono<List<Renewal>> send(List<LockClaim> claims) {
        Map<Integer, List<LockClaim>> groups = claims.stream().collect(Collectors.groupingBy(groupOf));
        return groups.size() == 1 ? renew.apply(claims) : Mono.defer(() -> sendAll(claims, groups));
    }

    private Mono<List<Renewal>> sendAll(List<LockClaim> claims, Map<Integer, List<LockClaim>> groups) {
        Duration grace = grace(claims);
        AtomicBoolean isAnswered = new AtomicBoolean();
        Sinks.Empty<Void> graceIsOver = Sinks.empty();
        return Flux.fromIterable(groups.entrySet())
                .flatMap(
                        group -> renew.apply(group.getValue())
                                .doOnNext(answers -> {
                                    if (isAnswered.compareAndSet(false, true)) {
                                        driver.later(grace, graceIsOver::tryEmitEmpty);
                                    }
                                })
                                .timeout(graceIsOver.asMono(), Mono.error(() -> late(group.getValue(), grace)))
                                .onErrorResume(LockBackendException.class, e -> unknown(group.getValue(), e))
                                .map(answers -> Map.entry(group.getKey(), answers.iterator())),
                        groups.size())
                .collectMap(Map.Entry::getKey, Map.Entry::getValue)
                .map(answers -> inOrder(claims, answers));
    }

    private List<Renewal> inOrder(List<LockClaim> claims, Map<Integer, Iterator<Renewal>> answers) {
        return claims.stream()
                .map(claim -> requireNonNull(answers.get(groupOf.apply(claim))).next())
                .toList();
    }

    private static Duration grace(List<LockClaim> claims) {
        Duration shortest =
                claims.stream().map(LockClaim::lease).min(Duration::compareTo).orElseThrow();
        Duration share = shortest.dividedBy(GRACES_PER_LEASE);
        return share.compareTo(GRACE) < 0 ? share : GRACE;
    }

    private LockBackendException late(List<LockClaim> claims, Duration grace) {
        return failures.of(
                new ExceptionTranslator.Subject("", "renew %d lock(s)".formatted(claims.size())),
                new RedisException(
                        "timed out: no answer %d ms after that of another master".formatted(grace.toMillis())));
    }

    private static Mono<List<Renewal>> unknown(List<LockClaim> claims, LockBackendException failure) {
        return Mono.just(Collections.nCopies(claims.size(), new Renewal.Unknown(failure)));
    }
}
