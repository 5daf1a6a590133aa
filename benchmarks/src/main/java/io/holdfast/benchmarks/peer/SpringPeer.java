package io.holdfast.benchmarks.peer;

import java.net.URI;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import reactor.core.publisher.Mono;

/** Spring Integration's locks. They belong to a thread, and waiting blocks it. */
final class SpringPeer implements Peer {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    SpringPeer(String uri) {
        URI address = URI.create(uri);
        connections = new LettuceConnectionFactory(address.getHost(), address.getPort());
        connections.afterPropertiesSet();
        connections.start();
        registry = new RedisLockRegistry(connections, "spring", 30_000);
        // The default is to poll every 100 ms.
        registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromRunnable(() -> {
            Lock one = registry.obtain(lock);
            one.lock();
            try {
                Object unused = whileHolding.block();
            } finally {
                one.unlock();
            }
        });
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
