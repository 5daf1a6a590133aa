package io.holdfast.spring;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import reactor.core.publisher.Flux;

/**
 * Closes the clients when the application context closes. {@link LockClientDrain} has drained them. This happens after the web server stops,
 * so that requests in flight keep their locks. It happens before connections of the application close, so that work under a lock can still end in order. A client is left open if
 * its bean has an empty {@code destroyMethod}.
 *
 * <p>If a context is only stopped, it may be started again, as for a checkpoint of the JVM. Then the clients stay open.
 */
final class LockClientLifecycle implements SmartLifecycle {

    /**
     * Spring stops from high to low. The web server answers its requests at {@code DEFAULT_PHASE - 1024}, and has stopped at {@code
     * DEFAULT_PHASE - 2048}. Connection factories such as those of Spring Data are at 0.
     */
    static final int PHASE = DEFAULT_PHASE - 3072;

    private static final Logger LOG = LoggerFactory.getLogger(LockClientLifecycle.class);

    private final ConfigurableApplicationContext context;
    private final Duration warmUp;

    /** Written by the thread that starts and stops the application. */
    private volatile boolean isRunning;

    LockClientLifecycle(ConfigurableApplicationContext context, Duration warmUp) {
        this.context = context;
        this.warmUp = warmUp;
    }

    /** Starts before the web server: the phases of a start go from low to high. */
    @Override
    public void start() {
        isRunning = true;
        if (!warmUp.isZero()) {
            WarmUp.of(clients(context.getBeanFactory()), warmUp);
        }
    }

    /**
     * Closes the clients. This is the only place that subscribes. Closing ends by itself within an operation timeout, and blocks no thread.
     * Spring waits for the callback, at most for {@code spring.lifecycle.timeout-per-shutdown-phase}.
     */
    @Override
    public void stop(Runnable callback) {
        if (!context.isClosed()) {
            LOG.info(
                    "the application context was stopped and not closed: lock clients stay open and keep their leases");
            callback.run();
            return;
        }
        isRunning = false;
        Flux.fromIterable(clients(context.getBeanFactory()))
                .flatMapDelayError(LockClient::close, Integer.MAX_VALUE, 1)
                .doFinally(end -> callback.run())
                .subscribe(nothing -> {}, error -> LOG.warn("a lock client did not close in order", error));
    }

    /** Returns the clients that were made and that Spring closes. */
    static List<LockClient> clients(ConfigurableListableBeanFactory beans) {
        return Stream.of(beans.getBeanNamesForType(LockClient.class, false, false))
                .filter(beans::containsSingleton)
                .filter(name -> isClosedBySpring(beans, name))
                .map(name -> beans.getBean(name, LockClient.class))
                .toList();
    }

    private static boolean isClosedBySpring(ConfigurableListableBeanFactory beans, String name) {
        return !beans.containsBeanDefinition(name)
                || !"".equals(beans.getMergedBeanDefinition(name).getDestroyMethodName());
    }

    /** Only Spring itself calls it, and not if there is a version with a callback. */
    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return isRunning;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** A paused context continues later, and so do its leases. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
