package io.holdfast.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The scheduler of {@code holdfast.deliver-on}: it emits leases, losses and results, so the work under locks begins on it. Spring closes it
 * after the client.
 *
 * @param scheduler the scheduler; null for the event loops of the drivers
 * @param end ends a scheduler that this class has made; does nothing for a scheduler of the application
 */
record Delivery(@Nullable Scheduler scheduler, Runnable end) implements AutoCloseable {

    static final String AUTO = "auto";

    static Delivery of(HoldfastProperties properties, Environment environment, ConfigurableBeanFactory beans) {
        return switch (properties.deliverOn()) {
            case AUTO -> wantsVirtualThreads(environment) ? onVirtualThreads() : onThreads(properties);
            case "threads" -> onThreads(properties);
            case "virtual-threads" -> onVirtualThreads();
            case "event-loop" -> new Delivery(null, () -> {});
            default -> new Delivery(bean(properties.deliverOn(), beans), () -> {});
        };
    }

    /** As Spring Boot decides. Its own class for that has another package in Spring Boot 3. */
    private static boolean wantsVirtualThreads(Environment environment) {
        return environment.getProperty("spring.threads.virtual.enabled", boolean.class, false)
                && Runtime.version().feature() >= 21;
    }

    private static Delivery onThreads(HoldfastProperties properties) {
        if (properties.deliverThreads() < 1) {
            throw new InvalidLockPropertiesException(
                    "holdfast.deliver-threads is %d.".formatted(properties.deliverThreads()), "Set it to 1 or more.");
        }
        WorkThreads threads = new WorkThreads(properties.deliverThreads(), Schedulers.parallel());
        return new Delivery(Schedulers.fromExecutorService(threads.executor(), "holdfast-work"), threads::end);
    }

    private static Delivery onVirtualThreads() {
        try {
            Scheduler threads = Schedulers.fromExecutor(new VirtualThreadTaskExecutor("holdfast-work-"));
            return new Delivery(threads, threads::dispose);
        } catch (UnsupportedOperationException tooOld) {
            throw new InvalidLockPropertiesException(
                    "holdfast.deliver-on is virtual-threads, but this JVM has none.",
                    "Run the application on Java 21 or later, or set holdfast.deliver-on to threads.");
        }
    }

    private static Scheduler bean(String name, ConfigurableBeanFactory beans) {
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, Scheduler.class)) {
            throw new InvalidLockPropertiesException(
                    "holdfast.deliver-on is %s, but the application has no bean of type reactor.core.scheduler.Scheduler with that name."
                            .formatted(name),
                    "Set it to auto, threads, virtual-threads or event-loop, or define that bean.");
        }
        return beans.getBean(name, Scheduler.class);
    }

    @Override
    public void close() {
        end.run();
    }
}
