package io.holdfast.spring;

import io.holdfast.LockClient;
import org.springframework.boot.actuate.health.AbstractReactiveHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import reactor.core.publisher.Mono;

/** {@link LockHealthIndicator} with the classes of Spring Boot 3. */
final class LockHealthOfSpringBoot3 extends AbstractReactiveHealthIndicator {

    private final LockClient client;

    LockHealthOfSpringBoot3(LockClient client) {
        super("the back end of the locks does not answer");
        this.client = client;
    }

    @Override
    protected Mono<Health> doHealthCheck(Health.Builder builder) {
        return client.ping().then(Mono.fromSupplier(builder.up()::build));
    }
}
