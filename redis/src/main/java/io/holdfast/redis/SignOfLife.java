package io.holdfast.redis;

import io.holdfast.LockBackendException;
import reactor.core.publisher.Mono;

/** A ping to any server of the deployment that takes part. */
final class SignOfLife {

    private SignOfLife() {}

    static Mono<Void> from(Route route, RedisFailures failures) {
        RedisFailures.Subject subject = new RedisFailures.Subject("", "ping");
        return Mono.defer(() ->
                        route.isClosed() ? Mono.error(failures.closed(subject)) : Mono.fromFuture(route::anyLink, true))
                .flatMap(link -> Mono.fromFuture(link::pong, true))
                .onErrorMap(e -> !(e instanceof LockBackendException), e -> failures.of(subject, e))
                .then();
    }
}
