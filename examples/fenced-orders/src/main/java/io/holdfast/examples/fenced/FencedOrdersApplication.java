package io.holdfast.examples.fenced;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;

/** Sells the items in stock. Any number of instances may run, and each of them may pause at any moment. */
@SpringBootApplication(proxyBeanMethods = false)
class FencedOrdersApplication {

    public static void main(String[] args) {
        var unused = SpringApplication.run(FencedOrdersApplication.class, args);
    }

    /** Stands for a slow call to another service. */
    @Bean
    @ConditionalOnMissingBean
    Payments payments(@Value("${orders.payment-time:5ms}") Duration time) {
        return order -> Mono.delay(time).then();
    }
}
