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
 * Makes a {@link LockClient} from the properties under {@code holdfast}, unless the application defines its own. The back end is the
 * one that {@code holdfast.backend} names, or the application's own {@link LockBackend}.
 *
 * <p>Nothing is sent before the first lock is used, so an application starts while its back end is away; only a session of ZooKeeper
 * that is made here is begun at once. Every {@link LockListener} among the beans is told of what happens, and every
 * {@link LockClientCustomizer} may change the client before it is made.
 *
 * <p>When the application context closes, what is held is released and who waits is told, after the web server has answered what it
 * was asked and before other connections close; then the back end is closed.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration"
        })
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@EnableConfigurationProperties(HoldfastProperties.class)
@Import({
    BackEnds.Memory.class,
    UnknownProperties.class,
    BackEnds.RedisWithSpringData.class,
    BackEnds.Redis.class,
    BackEnds.Redlock.class,
    BackEnds.Zookeeper.class,
    BackEnds.R2dbc.class,
    BackEnds.Missing.class,
    LockClientConfiguration.class // last: the others look whether there is a client already
})
public final class HoldfastAutoConfiguration {

    /** Made by Spring Boot. */
    public HoldfastAutoConfiguration() {}

    /** Of clients of the application too. */
    @Bean
    LockClientLifecycle holdfastLockClientLifecycle(ConfigurableApplicationContext context) {
        return new LockClientLifecycle(context);
    }
}
