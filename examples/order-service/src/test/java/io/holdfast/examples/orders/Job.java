package io.holdfast.examples.orders;

import io.holdfast.spring.Locked;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

/** A job of each instance, ten times a second, which excludes the orders of one item. Not a component, so only {@link ShopProcess} has it. */
@EnableScheduling
class Job {

    static final String BEGINS = "the job begins";

    @Scheduled(fixedDelay = 100)
    @Locked("stock/" + ShopProcess.SLOW_ITEM)
    public Mono<Void> run() {
        return Mono.fromRunnable(() -> System.out.println(BEGINS));
    }
}
