package io.holdfast.redis.internal.call;

import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.topology.Topology;
import io.lettuce.core.api.StatefulRedisConnection;
import reactor.core.publisher.Mono;

/** Sends a ping to any server of the deployment that has locks. */
public final class Ping {

    private Ping() {}

    public static Mono<Void> from(Topology topology, ExceptionTranslator failures) {
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("", "ping");
        return Mono.defer(() -> topology.isClosed()
                        ? Mono.error(failures.closed(subject))
                        : Mono.fromFuture(topology::anyLink, true))
                .flatMap(link -> pong(topology, link))
                .onErrorMap(e -> !(e instanceof LockBackendException), e -> failures.of(subject, e))
                .then();
    }

    private static Mono<String> pong(Topology topology, CommandLink link) {
        return Mono.defer(() -> {
            StatefulRedisConnection<String, String> used = link.ready();
            return Mono.fromFuture(() -> ServerQuery.ping(link), true)
                    .doOnCancel(() -> link.doubt(used, () -> topology.silent(link)));
        });
    }
}
