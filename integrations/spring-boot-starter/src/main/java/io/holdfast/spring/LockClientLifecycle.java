package io.holdfast.spring;

import io.holdfast.LockClient;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import reactor.core.publisher.Flux;

/**
 * Closes the clients when the application context closes: after the web server, so that requests in flight keep their locks, and before
 * connections of the application, so that work under a lock can still be ended well. A client is left alone if its bean has an empty {@code destroyMethod}.
 *
 * <p>A context that is only stopped may be started again, as for a checkpoint of the JVM: the clients stay open.
 */
final class LockClientLifecycle implements SmartLifecycle {

    /**
     * Spring stops from high to low. The web server answers what it was asked at {@code DEFAULT_PHASE - 1024} and is gone at
     * {@code DEFAULT_PHASE - 2048}; connection factories such as those of Spring Data are at 0.
     */
    static final int PHASE = DEFAULT_PHASE - 3072;

    private static final Logger LOG = LoggerFactory.getLogger(LockClientLifecycle.class);

    private final ConfigurableApplicationContext context;

    /** Written by the thread that starts and stops the application. */
    private volatile boolean isRunning;

    LockClientLifecycle(ConfigurableApplicationContext context) {
        this.context = context;
    }

    @Override
    public void start() {
        isRunning = true;
    }

    /**
     * The one place that subscribes. Closing ends by itself within an operation timeout, and no thread is blocked meanwhile: Spring waits
     * for the callback, for {@code spring.lifecycle.timeout-per-shutdown-phase} at most.
     */
    @Override
    public void stop(Runnable callback) {
        if (!context.isClosed()) {
            LOG.info(
                    "the application context was stopped and not closed: lock clients stay open, and what is held stays held");
            callback.run();
            return;
        }
        isRunning = false;
        Flux.fromIterable(clients())
                .flatMapDelayError(LockClient::close, Integer.MAX_VALUE, 1)
                .doFinally(end -> callback.run())
                .subscribe(nothing -> {}, error -> LOG.warn("a lock client did not close in order", error));
    }

    /** Those of this context that were made. */
    private List<LockClient> clients() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
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

    /** Only Spring itself calls it, and not where there is one with a callback. */
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

    /** A paused context goes on later, and its leases with it. */
    @Override
    public boolean isPauseable() {
        return false;
    }
}
