package io.holdfast.benchmarks.peer;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.api.RLockReactive;
import org.redisson.api.RedissonClient;
import org.redisson.api.RedissonReactiveClient;
import org.redisson.config.Config;
import reactor.core.publisher.Mono;

/**
 * Redisson's locks through its reactive interface, with its default options: like ours, renewed for as long as they are held. Each cycle
 * is an owner of its own; its documentation asks for the id of a thread, which two cycles on one thread would share.
 */
final class RedissonPeer implements Peer {

    private final List<RedissonClient> clients;
    private final Function<String, RLockReactive> locks;
    private final Runnable atEnd;
    private final AtomicLong owners = new AtomicLong();

    private RedissonPeer(List<RedissonClient> clients, Function<String, RLockReactive> locks, Runnable atEnd) {
        this.clients = clients;
        this.locks = locks;
        this.atEnd = atEnd;
    }

    static Peer plain(String uri) {
        RedissonClient client = Redisson.create(config(uri));
        RedissonReactiveClient reactive = client.reactive();
        return new RedissonPeer(List.of(client), reactive::getLock, () -> {});
    }

    static Peer fair(String uri) {
        RedissonClient client = Redisson.create(config(uri));
        RedissonReactiveClient reactive = client.reactive();
        return new RedissonPeer(List.of(client), reactive::getFairLock, () -> {});
    }

    /** The clients share their threads: 32 threads for each master would be too many. */
    static Peer multi(List<String> uris) {
        MultiThreadIoEventLoopGroup shared = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        List<RedissonClient> clients = uris.stream()
                .map(uri -> Redisson.create(config(uri).setEventLoopGroup(shared)))
                .toList();
        List<RedissonReactiveClient> members =
                clients.stream().map(RedissonClient::reactive).toList();
        Function<String, RLockReactive> all = name -> members.get(0)
                .getMultiLock(members.stream().map(it -> it.getLock(name)).toArray(RLockReactive[]::new));
        return new RedissonPeer(clients, all, () -> {
            var unused = shared.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        });
    }

    private static Config config(String uri) {
        Config config = new Config();
        var unused = config.useSingleServer().setAddress(uri);
        return config;
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.defer(() -> {
            RLockReactive one = locks.apply("redisson:" + lock);
            long owner = owners.incrementAndGet();
            return one.lock(owner).then(whileHolding).then(Mono.defer(() -> one.unlock(owner)));
        });
    }

    @Override
    public void close() {
        clients.forEach(RedissonClient::shutdown);
        atEnd.run();
    }
}
