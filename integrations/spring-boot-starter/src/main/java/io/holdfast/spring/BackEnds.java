package io.holdfast.spring;

import static io.holdfast.spring.InvalidLockPropertiesException.orRefused;
import static java.util.Objects.requireNonNull;

import io.etcd.jetcd.Client;
import io.holdfast.LockClient;
import io.holdfast.LockInspector;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spring.HoldfastProperties.Backend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.resource.ClientResources;
import io.r2dbc.spi.ConnectionFactory;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails;
import org.springframework.boot.autoconfigure.data.redis.RedisProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * One configuration for each back end. It applies if the back end is chosen, its module is present, and the application has no back end of
 * its own. Spring closes each bean after the beans that use it, and waits for {@code close()} of a back end. The inspector is made when the
 * application, or the endpoint, uses it.
 */
final class BackEnds {

    private BackEnds() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.MEMORY)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Memory {

        @Bean
        InMemoryLockBackend holdfastLockBackend() {
            return InMemoryLockBackend.create();
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(InMemoryLockBackend holdfastLockBackend) {
            return holdfastLockBackend.inspector();
        }
    }

    /** Provides the server of Spring Data, in case the application names none for its locks. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.REDIS)
    @ConditionalOnClass({RedisLockBackend.class, DataRedisConnectionDetails.class})
    static class RedisWithSpringData {

        @Bean
        @ConditionalOnSingleCandidate(DataRedisConnectionDetails.class)
        SharedRedis holdfastSharedRedis(
                DataRedisConnectionDetails details,
                ObjectProvider<DataRedisProperties> properties,
                Environment environment) {
            return RedisOfSpringBoot4.of(details, properties.getIfAvailable(), environment);
        }
    }

    /** The same for Spring Boot 3, whose classes have other names. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.REDIS)
    @ConditionalOnClass({RedisLockBackend.class, RedisConnectionDetails.class})
    static class RedisWithSpringBoot3 {

        @Bean
        @ConditionalOnSingleCandidate(RedisConnectionDetails.class)
        SharedRedis holdfastSharedRedis(
                RedisConnectionDetails details, ObjectProvider<RedisProperties> properties, Environment environment) {
            return RedisOfSpringBoot3.of(details, properties.getIfAvailable(), environment);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.REDIS)
    @ConditionalOnClass(RedisLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Redis {

        @Bean
        @ConditionalOnMissingBean(RedisLockConnectionDetails.class)
        RedisLockConnectionDetails holdfastRedisConnectionDetails(
                HoldfastProperties properties, ObjectProvider<SslBundles> bundles, ObjectProvider<SharedRedis> shared) {
            return RedisAddresses.redis(properties.redis(), bundles, shared.getIfAvailable());
        }

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                RedisLockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> customizers) {
            return orRefused(() -> builder(properties.redis(), connection, resources, customizers)
                    .build());
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(
                HoldfastProperties properties,
                RedisLockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> customizers) {
            return builder(properties.redis(), connection, resources, customizers)
                    .inspector();
        }

        private static RedisLockBackend.Builder builder(
                HoldfastProperties.Redis redis,
                RedisLockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> customizers) {
            return new RedisBackends(
                            redis.shareClientResources() ? shared("holdfast.redis", resources) : null,
                            customizers.orderedStream().toList())
                    .redis(connection, redis);
        }
    }

    private static ClientResources shared(String prefix, ObjectProvider<ClientResources> resources) {
        ClientResources only = resources.getIfUnique();
        if (only == null) {
            throw new InvalidLockPropertiesException(
                    prefix
                            + ".share-client-resources is true, but the application has no ClientResources bean, or several.",
                    "Define one, or mark one as @Primary. Spring Boot's support of Redis with Lettuce makes one.");
        }
        return only;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.REDLOCK)
    @ConditionalOnClass({RedisLockBackend.class, RedlockBackend.class})
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Redlock {

        @Bean
        @ConditionalOnMissingBean(RedlockConnectionDetails.class)
        RedlockConnectionDetails holdfastRedlockConnectionDetails(
                HoldfastProperties properties, ObjectProvider<SslBundles> bundles) {
            return RedisAddresses.redlock(properties.redlock(), bundles);
        }

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                RedlockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> ofMasters,
                ObjectProvider<RedlockBackendCustomizer> customizers) {
            return orRefused(() -> RedisBackends.redlock(
                    masters(properties, connection, resources, ofMasters),
                    customizers.orderedStream().toList()));
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(
                HoldfastProperties properties,
                RedlockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> ofMasters) {
            return RedisBackends.inspector(masters(properties, connection, resources, ofMasters));
        }

        private static List<RedisLockBackend.Builder> masters(
                HoldfastProperties properties,
                RedlockConnectionDetails connection,
                ObjectProvider<ClientResources> resources,
                ObjectProvider<RedisLockBackendCustomizer> ofMasters) {
            HoldfastProperties.Redlock redlock = properties.redlock();
            return new RedisBackends(
                            redlock.shareClientResources() ? shared("holdfast.redlock", resources) : null,
                            ofMasters.orderedStream().toList())
                    .masters(connection, redlock, properties.longestLease());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.ZOOKEEPER)
    @ConditionalOnClass(ZooKeeperLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Zookeeper {

        @Bean
        @ConditionalOnMissingBean(ZooKeeperLockConnectionDetails.class)
        @ConditionalOnProperty("holdfast.zookeeper.connect-string")
        ZooKeeperLockConnectionDetails holdfastZooKeeperConnectionDetails(HoldfastProperties properties) {
            String connectString = requireNonNull(properties.zookeeper().connectString());
            return () -> connectString;
        }

        /** For the locks only: Spring does not inject it where the application wants a Curator client of its own. */
        @Bean(defaultCandidate = false, initMethod = "start", destroyMethod = "close")
        @ConditionalOnBean(ZooKeeperLockConnectionDetails.class)
        CuratorFramework holdfastCurator(HoldfastProperties properties, ZooKeeperLockConnectionDetails connection) {
            return ZooKeeperClients.own(properties.zookeeper(), connection.getConnectString());
        }

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                @Qualifier("holdfastCurator") ObjectProvider<CuratorFramework> own,
                ObjectProvider<CuratorFramework> borrowed,
                ObjectProvider<ZooKeeperLockBackendCustomizer> customizers) {
            return orRefused(() ->
                    builder(properties.zookeeper(), own, borrowed, customizers).build());
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(
                HoldfastProperties properties,
                @Qualifier("holdfastCurator") ObjectProvider<CuratorFramework> own,
                ObjectProvider<CuratorFramework> borrowed,
                ObjectProvider<ZooKeeperLockBackendCustomizer> customizers) {
            return builder(properties.zookeeper(), own, borrowed, customizers).inspector();
        }

        private static ZooKeeperLockBackend.Builder builder(
                HoldfastProperties.Zookeeper properties,
                ObjectProvider<CuratorFramework> own,
                ObjectProvider<CuratorFramework> borrowed,
                ObjectProvider<ZooKeeperLockBackendCustomizer> customizers) {
            CuratorFramework ours = own.getIfAvailable();
            CuratorFramework client = ours != null ? ours : borrowed.getIfUnique();
            if (client == null) {
                throw new InvalidLockPropertiesException(
                        "holdfast.backend is zookeeper, but holdfast.zookeeper.connect-string is not set, and the application has no CuratorFramework that could be shared.",
                        "Set it to the servers, such as host1:2181,host2:2181,host3:2181, or define one bean of type CuratorFramework.");
            }
            return ZooKeeperClients.backEnd(
                    properties,
                    client,
                    ours != null,
                    customizers.orderedStream().toList());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.ETCD)
    @ConditionalOnClass({EtcdLockBackend.class, Client.class})
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Etcd {

        @Bean
        @ConditionalOnMissingBean(EtcdLockConnectionDetails.class)
        EtcdLockConnectionDetails holdfastEtcdConnectionDetails(
                HoldfastProperties properties, ObjectProvider<SslBundles> bundles) {
            return EtcdClients.members(properties.etcd(), bundles);
        }

        /** For the locks only: Spring does not inject it where the application wants a client of its own. Made if there are addresses. */
        @Bean(defaultCandidate = false, destroyMethod = "close")
        @Lazy
        Client holdfastEtcdClient(HoldfastProperties properties, EtcdLockConnectionDetails connection) {
            return EtcdClients.own(properties.etcd(), connection);
        }

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                EtcdLockConnectionDetails connection,
                @Qualifier("holdfastEtcdClient") ObjectProvider<Client> own,
                ObjectProvider<Client> borrowed,
                ObjectProvider<EtcdLockBackendCustomizer> customizers) {
            return orRefused(() -> EtcdClients.made(builder(properties, connection, own, borrowed, customizers)));
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(
                HoldfastProperties properties,
                EtcdLockConnectionDetails connection,
                @Qualifier("holdfastEtcdClient") ObjectProvider<Client> own,
                ObjectProvider<Client> borrowed,
                ObjectProvider<EtcdLockBackendCustomizer> customizers) {
            return builder(properties, connection, own, borrowed, customizers).inspector();
        }

        private static EtcdLockBackend.Builder builder(
                HoldfastProperties properties,
                EtcdLockConnectionDetails connection,
                ObjectProvider<Client> own,
                ObjectProvider<Client> borrowed,
                ObjectProvider<EtcdLockBackendCustomizer> customizers) {
            return EtcdClients.backEnd(
                    properties.etcd(),
                    connection,
                    own,
                    borrowed,
                    customizers.orderedStream().toList());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd(Backend.R2DBC)
    @ConditionalOnClass(R2dbcLockBackend.class)
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class R2dbc {

        @Bean
        LockBackend holdfastLockBackend(
                HoldfastProperties properties,
                ObjectProvider<ConnectionFactory> connections,
                ObjectProvider<R2dbcLockBackendCustomizer> customizers) {
            return orRefused(() -> R2dbcBackends.backEnd(
                            properties.r2dbc(),
                            connections,
                            customizers.orderedStream().toList())
                    .build());
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        LockInspector holdfastLockInspector(
                HoldfastProperties properties,
                ObjectProvider<ConnectionFactory> connections,
                ObjectProvider<R2dbcLockBackendCustomizer> customizers) {
            return R2dbcBackends.backEnd(
                            properties.r2dbc(),
                            connections,
                            customizers.orderedStream().toList())
                    .inspector();
        }
    }

    /**
     * For a chosen back end whose module is missing: the application does not start, and the error says what to add. Comes after the
     * others.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBackEnd
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    static class Missing {

        @Bean
        LockBackend holdfastLockBackend(Environment environment) {
            throw ClientFromProperties.noModule(requireNonNull(OnBackEnd.chosen(environment)));
        }
    }
}
