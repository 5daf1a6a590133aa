package io.holdfast.spring;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Warms the clients up while the application starts, before it serves requests. It never fails the start. */
final class WarmUp {

    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

    private WarmUp() {}

    /** Waits for the end, at most for a time. Then it goes on in the background. This is the only place that subscribes. */
    static void of(List<LockClient> clients, Duration longest) {
        CountDownLatch ended = new CountDownLatch(1);
        Flux.fromIterable(clients)
                .flatMap(client -> client.warmUp().onErrorResume(WarmUp::log))
                .doFinally(end -> ended.countDown())
                .subscribe();
        try {
            boolean unused = ended.await(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static Mono<Void> log(Throwable error) {
        LOG.warn("the back end of the locks does not answer yet; the first lock connects again: {}", error.toString());
        return Mono.empty();
    }
}
