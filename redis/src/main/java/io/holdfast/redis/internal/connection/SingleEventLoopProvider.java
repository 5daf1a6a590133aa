package io.holdfast.redis.internal.connection;

import io.lettuce.core.resource.EventLoopGroupProvider;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Gives a client one of the threads of the resources, for all its connections. A grant comes on the connection for the
 * channel, and its holder's commands go out on the one for commands: with two threads, each hand-off would wake one
 * more of them.
 *
 * <p>Clients of the same resources get the same thread. The masters of a quorum get their requests together and answer
 * together, and one thread reads the answers with one wake-up.
 */
final class SingleEventLoopProvider implements EventLoopGroupProvider {

    /** The loop of the clients, for each of the resources. Guarded by itself. */
    private static final Map<EventLoopGroupProvider, WeakReference<EventLoop>> SHARED = new WeakHashMap<>();

    private final EventLoopGroupProvider given;

    /** The groups, by the loops that were taken from them. An event loop is a group of one. */
    private final ConcurrentMap<EventExecutorGroup, EventLoopGroup> taken = new ConcurrentHashMap<>();

    /** Null before the first connection. Written by the thread that makes it. */
    private volatile @Nullable EventLoop loop;

    SingleEventLoopProvider(EventLoopGroupProvider given) {
        this.given = given;
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"
    }) // the driver uses it as an EventLoopGroup, which it is
    public <T extends EventLoopGroup> T allocate(Class<T> type) {
        EventLoopGroup group = given.allocate(type);
        EventLoop one = loopOf(group);
        taken.put(one, group);
        loop = one;
        return (T) one;
    }

    /** Returns the loop that another client of these resources has. A group that was made anew has other loops. */
    private EventLoop loopOf(EventLoopGroup group) {
        synchronized (SHARED) {
            WeakReference<EventLoop> known = SHARED.get(given);
            EventLoop shared = known == null ? null : known.get();
            if (shared == null || shared.parent() != group) {
                shared = group.next();
                SHARED.put(given, new WeakReference<>(shared));
            }
            return shared;
        }
    }

    /**
     * Runs the task on the loop, after all that the loop has read in this turn, also when this thread is the loop.
     * Returns false if there is no loop.
     */
    boolean execute(Runnable task) {
        EventLoop present = loop;
        if (present == null) {
            return false;
        }
        present.execute(task);
        return true;
    }

    /** Closes the loop's resolver of names. Does nothing if there is no loop, or if it does not run. */
    void closeResolver(AddressResolverGroup<?> resolvers) {
        EventLoop present = loop;
        if (present == null || present.isShuttingDown()) {
            return;
        }
        try {
            resolvers.getResolver(present).close();
        } catch (IllegalStateException ended) {
            // The loop has ended meanwhile.
        }
    }

    @Override
    public int threadPoolSize() {
        return given.threadPoolSize();
    }

    @Override
    public Future<Boolean> release(EventExecutorGroup one, long quietPeriod, long timeout, TimeUnit unit) {
        EventLoopGroup group = taken.remove(one);
        return given.release(group == null ? one : group, quietPeriod, timeout, unit);
    }

    @Override
    public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit unit) {
        return given.shutdown(quietPeriod, timeout, unit);
    }
}
