package io.holdfast.spring;

import java.util.List;

/** What servers in containers are known by. Apart from the factories, which need Testcontainers or Docker Compose. */
final class ServiceNames {

    /** Names of images, which an annotation or a label can also give to another image. */
    static final List<String> REDIS =
            List.of("redis", "redis/redis-stack", "redis/redis-stack-server", "valkey", "valkey/valkey");

    static final int REDIS_PORT = 6379;

    /** The details of a connection are of no use without. */
    static final String REDIS_BACK_END = "io.holdfast.redis.RedisLockBackend";

    static final String ZOOKEEPER = "zookeeper";
    static final int ZOOKEEPER_PORT = 2181;
    static final String ZOOKEEPER_BACK_END = "io.holdfast.zookeeper.ZooKeeperLockBackend";

    private ServiceNames() {}
}
