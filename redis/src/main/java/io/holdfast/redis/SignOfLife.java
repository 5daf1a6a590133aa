package io.holdfast.redis;

import io.holdfast.LockBackendException;
import io.lettuce.core.api.StatefulRedisConnection;
import reactor.core.publisher.Mono;

/** A ping to any server of the deployment that takes part. */
final class SignOfLife {

    private SignOfLife() {}

    static Mono<Void> from(Route route, RedisFailures failures) {
        RedisFailures.Subject subject = new RedisFailures.Subject("", "ping");
        return Mono.defer(() ->
                        route.isClosed() ? Mono.error(failures.closed(subject)) : Mono.fromFuture(route::anyLink, true))
                .flatMap(link -> pong(route, link))
                .onErrorMap(e -> !(e instanceof LockBackendException), e -> failures.of(subject, e))
                .then();
    }

    private static Mono<String> pong(Route route, CommandLink link) {
        return Mono.defer(() -> {
            StatefulRedisConnection<String, String> used = link.ready();
            return Mono.fromFuture(link::pong, true).doOnCancel(() -> link.doubt(used, () -> route.silent(link)));
        });
    }
}
