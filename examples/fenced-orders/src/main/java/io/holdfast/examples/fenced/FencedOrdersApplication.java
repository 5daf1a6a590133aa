package io.holdfast.examples.fenced;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;

/** Sells what is in stock. Any number of instances may run, and any of them may stand still at any moment. */
@SpringBootApplication(proxyBeanMethods = false)
class FencedOrdersApplication {

    public static void main(String[] args) {
        var unused = SpringApplication.run(FencedOrdersApplication.class, args);
    }

    /** Stands for a call to another service that takes its time. */
    @Bean
    @ConditionalOnMissingBean
    Payments payments(@Value("${orders.payment-time:5ms}") Duration time) {
        return order -> Mono.delay(time).then();
    }
}
