package io.holdfast.redis.internal.connection;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Driver resources that the back end makes, for one client or for several. They end with the last client. */
public final class OwnResources {

    private static final int SHUTDOWN_SECONDS = 2;

    private final ClientResources resources = DefaultClientResources.builder()
            // The driver's own pause goes up to 30 s, and nothing can be locked during a pause.
            .reconnectDelay(Delay.exponential(Duration.ofMillis(1), Duration.ofSeconds(1), 2, TimeUnit.MILLISECONDS))
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .build();

    private final AtomicInteger users;
    private final AtomicInteger connecting;

    /**
     * Starts the resources.
     *
     * @param users how many clients will use them; each leaves once
     */
    public OwnResources(int users) {
        this.users = new AtomicInteger(users);
        connecting = new AtomicInteger(users);
    }

    ClientResources get() {
        return resources;
    }

    /**
     * A client makes no more connections. After the last one, this closes the resolver of names while its event loop
     * still runs: Netty's own resolver, if it is on the class path, has a socket, and an event loop that ends at once
     * does not always close that.
     */
    void endConnecting(SingleEventLoopProvider eventLoop) {
        if (connecting.decrementAndGet() == 0) {
            eventLoop.closeResolver(resources.addressResolverGroup());
        }
    }

    /** A client does not use the resources any more. The last client waits for their end. */
    void leave() throws InterruptedException, ExecutionException {
        if (users.decrementAndGet() == 0) {
            resources.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).get();
        }
    }
}
