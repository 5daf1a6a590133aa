package io.holdfast.spring;

import java.util.List;

/**
 * The names by which servers in containers are recognised. They are separate from the factories, which need Testcontainers or Docker
 * Compose.
 */
final class ServiceNames {

    /** Names of images. An annotation or a label can give these names to another image, too. */
    static final List<String> REDIS =
            List.of("redis", "redis/redis-stack", "redis/redis-stack-server", "valkey", "valkey/valkey");

    static final int REDIS_PORT = 6379;

    /** The details of a connection are useless without this class. */
    static final String REDIS_BACK_END = "io.holdfast.redis.RedisLockBackend";

    static final String ZOOKEEPER = "zookeeper";
    static final int ZOOKEEPER_PORT = 2181;
    static final String ZOOKEEPER_BACK_END = "io.holdfast.zookeeper.ZooKeeperLockBackend";

    static final List<String> ETCD = List.of("etcd", "coreos/etcd", "etcd-development/etcd", "bitnami/etcd");
    static final int ETCD_PORT = 2379;
    static final String ETCD_BACK_END = "io.holdfast.etcd.EtcdLockBackend";

    private ServiceNames() {}
}
