package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * Makes a {@link LockClient} from the properties under {@code holdfast}, unless the application defines its own. {@code holdfast.backend}
 * names the back end, unless the application has its own {@link LockBackend}.
 *
 * <p>Each client is warmed up when the application starts, for at most {@code holdfast.warm-up-timeout}. An application starts even if its back end
 * is unreachable. Every {@link LockListener} bean is notified of events, and every {@link
 * LockClientCustomizer} may change the client before it is made.
 *
 * <p>When the application context closes, the client is drained: its waiters fail, and it gives no more locks. After the web server has
 * answered its requests, and before other connections close, the client releases its leases. Then the back end is closed.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration",
            // Spring Boot 3
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@EnableConfigurationProperties(HoldfastProperties.class)
@Import({
    BackEnds.Memory.class,
    OldSpringBoot.class,
    UnknownProperties.class,
    BackEnds.RedisWithSpringData.class,
    BackEnds.RedisWithSpringBoot3.class,
    BackEnds.Redis.class,
    BackEnds.Redlock.class,
    BackEnds.Zookeeper.class,
    BackEnds.Etcd.class,
    BackEnds.R2dbc.class,
    BackEnds.Missing.class,
    LockClientConfiguration.class // last: the others check whether there is a client already
})
public final class HoldfastAutoConfiguration {

    /** Called by Spring Boot. */
    public HoldfastAutoConfiguration() {}

    /** Also drains the clients that the application defines. */
    @Bean
    LockClientDrain holdfastLockClientDrain(ConfigurableApplicationContext context) {
        return new LockClientDrain(context);
    }

    /** Also warms up and closes the clients that the application defines. */
    @Bean
    LockClientLifecycle holdfastLockClientLifecycle(
            ConfigurableApplicationContext context, HoldfastProperties properties) {
        return new LockClientLifecycle(context, properties.warmUpTimeout());
    }
}
