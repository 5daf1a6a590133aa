package io.holdfast.spring;

import static io.holdfast.spring.InvalidLockPropertiesException.orRefused;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.LockClient;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.ConnectionFactory;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * One configuration per back end, which counts when the back end is chosen, its module is there, and the application has no own. Each
 * bean is closed by Spring, after what uses it: {@code close()} of a back end is awaited.
 */
final class BackEnds {

    private BackEnds() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.backend", havingValue = "memory")
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Memory {

        @Bean
        LockBackend holdfastLockBackend() {
            return InMemoryLockBackend.create();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.backend", havingValue = "redis")
    @ConditionalOnClass(RedisLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Redis {

        @Bean
        LockBackend holdfastLockBackend(HoldfastProperties properties) {
            return orRefused(() -> RedisBackends.redis(properties.redis()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.backend", havingValue = "redlock")
    @ConditionalOnClass({RedisLockBackend.class, RedlockBackend.class})
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Redlock {

        @Bean
        LockBackend holdfastLockBackend(HoldfastProperties properties) {
            return orRefused(() -> RedisBackends.redlock(properties.redlock(), properties.leaseDuration()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.backend", havingValue = "zookeeper")
    @ConditionalOnClass(ZooKeeperLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Zookeeper {

        /** Nobody else's: not a candidate where the application asks for a Curator client of its own. */
        @Bean(defaultCandidate = false, initMethod = "start", destroyMethod = "close")
        @ConditionalOnProperty("holdfast.zookeeper.connect-string")
        CuratorFramework holdfastCurator(HoldfastProperties properties) {
            return ZooKeeperClients.own(properties.zookeeper());
        }

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                @Qualifier("holdfastCurator") ObjectProvider<CuratorFramework> own,
                ObjectProvider<CuratorFramework> borrowed) {
            CuratorFramework client = own.getIfAvailable(borrowed::getIfUnique);
            if (client == null) {
                throw new InvalidLockPropertiesException(
                        "holdfast.backend is zookeeper, but holdfast.zookeeper.connect-string is not set, and the application has no CuratorFramework that could be shared.",
                        "Set it to the servers, such as host1:2181,host2:2181,host3:2181, or define one bean of type CuratorFramework.");
            }
            return orRefused(() -> ZooKeeperClients.backend(properties.zookeeper(), client));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.backend", havingValue = "r2dbc")
    @ConditionalOnClass(R2dbcLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class R2dbc {

        @Bean
        LockBackend holdfastLockBackend(HoldfastProperties properties, ObjectProvider<ConnectionFactory> connections) {
            return orRefused(() -> R2dbcBackends.backend(properties.r2dbc(), connections));
        }
    }
}
