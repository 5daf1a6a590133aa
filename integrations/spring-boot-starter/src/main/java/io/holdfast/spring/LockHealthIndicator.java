package io.holdfast.spring;

import io.holdfast.LockClient;
import org.springframework.boot.health.contributor.AbstractReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import reactor.core.publisher.Mono;

/** Up while the back end answers a ping within the client's operation timeout. */
final class LockHealthIndicator extends AbstractReactiveHealthIndicator {

    private final LockClient client;

    LockHealthIndicator(LockClient client) {
        super("the back end of the locks does not answer");
        this.client = client;
    }

    @Override
    protected Mono<Health> doHealthCheck(Health.Builder builder) {
        return client.ping().then(Mono.fromSupplier(builder.up()::build));
    }
}
