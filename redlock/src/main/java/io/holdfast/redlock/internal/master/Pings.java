package io.holdfast.redlock.internal.master;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.internal.quorum.MasterTimeoutException;
import io.holdfast.redlock.internal.quorum.VoteCount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Pings to all masters, also silent ones. */
public final class Pings {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private Pings() {}

    /** Completes when a majority has answered; fails when it cannot answer any more. */
    public static Mono<Void> toMajority(Masters masters) {
        int majority = VoteCount.majorityOf(masters.size());
        return Flux.defer(() -> {
                    List<String> failures = new ArrayList<>();
                    return Flux.fromIterable(masters.all())
                            .flatMap(master -> failure(masters, master), masters.size())
                            .<String>handle((failure, sink) -> {
                                if (failure.isEmpty()) {
                                    sink.next(failure);
                                } else if (failures.add(failure) && failures.size() == majority) {
                                    sink.error(tooMany(masters, failures));
                                }
                            });
                })
                .take(majority)
                .then()
                .contextWrite(QuorumRequest.NO_CONTEXT);
    }

    /** Returns an empty text if the master answers. */
    private static Mono<String> failure(Masters masters, int master) {
        Mono<String> late = Mono.error(() -> MasterTimeoutException.after(PATIENCE));
        return Mono.defer(() -> masters.backend(master).ping())
                .thenReturn("")
                .doOnSuccess(alive -> masters.silent().answered(master))
                .timeout(PATIENCE, late, masters.timer())
                .onErrorResume(error -> Mono.just("%s: %s".formatted(masters.name(master), error.getMessage())));
    }

    private static LockBackendException tooMany(Masters masters, List<String> failures) {
        String message = "ping: %d of %d masters failed [%s]; is the network up?"
                .formatted(failures.size(), masters.size(), String.join("; ", failures));
        return new LockBackendException("", message, true, null);
    }
}
