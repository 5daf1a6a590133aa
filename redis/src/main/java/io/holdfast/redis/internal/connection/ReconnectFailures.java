package io.holdfast.redis.internal.connection;

import io.holdfast.spi.support.Fallible;
import io.lettuce.core.RedisURI;
import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.connection.ConnectionActivatedEvent;
import io.lettuce.core.event.connection.ReconnectFailedEvent;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/**
 * Why the driver could not restore a connection, last time: the driver tells nobody but its event bus. A command that is
 * refused meanwhile fails with that reason.
 */
final class ReconnectFailures implements EventBus {

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.redis.RedisLockBackend");

    /** The servers of a cluster that a client uses. */
    private static final int MOST_SERVERS = 1_000;

    private final EventBus given;

    /** By host and port; the servers that have no connection now. */
    private final ConcurrentMap<String, Throwable> last = new ConcurrentHashMap<>();

    /** The newest of all. Written by the driver's threads. */
    private volatile @Nullable Throwable newest;

    ReconnectFailures(EventBus given) {
        this.given = given;
    }

    /** Returns the last failure to connect to that server again; null for none. The sentinels choose the server of their master. */
    @Nullable
    Throwable of(RedisURI uri) {
        return uri.getSentinels().isEmpty() && uri.getSocket() == null
                ? last.get(uri.getHost() + ':' + uri.getPort())
                : newest;
    }

    @Override
    public Flux<Event> get() {
        return given.get();
    }

    @Override
    public void publish(Event event) {
        if (event instanceof ReconnectFailedEvent failed && failed.getCause() != null) {
            String place = place(failed.remoteAddress());
            if (last.size() < MOST_SERVERS || last.containsKey(place)) {
                last.put(place, failed.getCause());
            }
            newest = failed.getCause();
        } else if (event instanceof ConnectionActivatedEvent connected) {
            last.remove(place(connected.remoteAddress()));
            newest = null;
        }
        // The driver publishes a failure before it plans its next attempt to connect: otherwise it would never try
        // again.
        Fallible.run(() -> given.publish(event), LOG, "the event bus of the caller failed");
    }

    private static String place(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress inet
                ? inet.getHostString() + ':' + inet.getPort()
                : String.valueOf(address);
    }
}
