package io.holdfast.examples.orders;

import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.publisher.Mono;

/** Sells the items in stock. Any number of instances may run: the lock of an item keeps them from selling it twice. */
@SpringBootApplication(proxyBeanMethods = false)
class OrderServiceApplication {

    public static void main(String[] args) {
        var unused = SpringApplication.run(OrderServiceApplication.class, args);
    }

    /** Stands for a slow call to another service. */
    @Bean
    @ConditionalOnMissingBean
    Payments payments(@Value("${orders.payment-time:5ms}") Duration time) {
        return order -> Mono.delay(time).then();
    }

    /** Spring Data connects with a blocking call. Here it does so at the start, and not on the event loop of the locks. */
    @Bean
    static BeanPostProcessor earlyConnection() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessBeforeInitialization(Object bean, String name) {
                if (bean instanceof LettuceConnectionFactory redis) {
                    redis.setEagerInitialization(true);
                }
                return bean;
            }
        };
    }
}
