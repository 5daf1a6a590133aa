package io.holdfast.redis;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One host name that leads to one server after the other, as the endpoint of a managed service does. Open connections
 * stay.
 */
final class MovingName extends SocketAddressResolver implements AutoCloseable {

    private final ClientResources resources =
            DefaultClientResources.builder().socketAddressResolver(this).build();

    private final AtomicInteger lookups = new AtomicInteger();
    private volatile RedisServer server;

    private MovingName(RedisServer server) {
        super(DnsResolvers.UNRESOLVED);
        this.server = server;
    }

    static MovingName of(RedisServer first) {
        return new MovingName(first);
    }

    void moveTo(RedisServer other) {
        server = other;
    }

    RedisLockBackend.Builder backend() {
        return RedisLockBackend.builder(RedisURI.create("redis://locks.example:6379"))
                .resources(resources);
    }

    /** Returns how often the name was resolved: once for each attempt to connect. */
    int lookups() {
        return lookups.get();
    }

    @Override
    public SocketAddress resolve(RedisURI uri) {
        lookups.incrementAndGet();
        RedisServer present = server;
        return new InetSocketAddress(present.host(), present.port());
    }

    @Override
    public void close() {
        boolean isDown = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        assert isDown;
    }
}
