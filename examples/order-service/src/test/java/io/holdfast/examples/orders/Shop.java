package io.holdfast.examples.orders;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import reactor.core.publisher.Mono;

/** One instance of the real application, in this JVM, on a port of its own. */
record Shop(ConfigurableApplicationContext context, Customer customer, int port) implements AutoCloseable {

    /** The settings of every instance, which a test may override. */
    static final List<String> USUAL = List.of(
            "server.port=0",
            "spring.main.banner-mode=off",
            // The test kit reads a system property holdfast.redis. Spring would read it as the value of all
            // properties below that name.
            "holdfast.redis.key-prefix=holdfast:");

    static Shop open(String... properties) {
        return open(order -> Mono.delay(Duration.ofMillis(2)).then(), properties);
    }

    static Shop open(Payments payments, String... properties) {
        String[] arguments = Stream.concat(USUAL.stream(), Stream.of(properties))
                .map(property -> "--" + property)
                .toArray(String[]::new);
        ConfigurableApplicationContext context = new SpringApplicationBuilder(OrderServiceApplication.class)
                .initializers((GenericApplicationContext it) -> it.registerBean(Payments.class, () -> payments))
                .run(arguments);
        int port = ((WebServerApplicationContext) context).getWebServer().getPort();
        return new Shop(context, Customer.of(port), port);
    }

    @Override
    public void close() {
        context.close();
        customer.close();
    }
}
