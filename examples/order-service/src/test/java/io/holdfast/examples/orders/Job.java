package io.holdfast.examples.orders;

import io.holdfast.spring.Locked;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

/** A job of each instance, ten times a second, which excludes the orders of one item. */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
class Job {

    static final String BEGINS = "the job begins";

    @Scheduled(fixedDelay = 100)
    @Locked("stock/" + ShopProcess.SLOW_ITEM)
    public Mono<Void> run() {
        return Mono.fromRunnable(() -> System.out.println(BEGINS));
    }
}
