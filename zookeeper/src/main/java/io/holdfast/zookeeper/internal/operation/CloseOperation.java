package io.holdfast.zookeeper.internal.operation;

import static io.holdfast.zookeeper.internal.client.BackendLog.LOG;

import io.holdfast.LockBackendException;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.support.Printable;
import io.holdfast.zookeeper.internal.claim.ClaimState;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Releases all claims when the back end closes. The session goes on, so no server would delete their nodes.
 *
 * @param limit the time for each claim
 * @param release releases one claim
 */
record CloseOperation(Duration limit, Scheduler scheduler, Function<LockClaim, Mono<Ownership>> release) {

    private static final Duration BETWEEN_TRIES = Duration.ofMillis(50);

    Mono<Void> releaseAll(List<ClaimState> claims) {
        return Flux.fromIterable(claims)
                .flatMap(this::release, Integer.MAX_VALUE)
                .then();
    }

    /** Retries until the limit, since the connection may be lost for a moment. */
    private Mono<Ownership> release(ClaimState state) {
        return release.apply(state.claim())
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, BETWEEN_TRIES)
                        .filter(error -> error instanceof LockBackendException failure && failure.isTransient())
                        .scheduler(scheduler))
                .timeout(limit, scheduler)
                .onErrorResume(error -> {
                    LOG.warn(
                            "{} could not be deleted in time; it is deleted when a server is reached again, or with its session: {}",
                            state,
                            Printable.text(error.toString()));
                    return Mono.empty();
                });
    }
}
