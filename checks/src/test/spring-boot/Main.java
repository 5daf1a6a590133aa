import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LockedLease;
import io.lettuce.core.LettuceVersion;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** A service on WebFlux, with the actuator. It calls itself, prints the answers, and ends. It compiles on each line of Spring Boot. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Main.Stock.class)
public class Main {

    @RestController
    static class Stock {

        @Locked("stock/42")
        @GetMapping("/sell")
        public Mono<String> sell() {
            return LockedLease.fencingToken().map(token -> "held with token " + token);
        }

        @Locked("stock/43")
        public String sellAndBlock() {
            return "works with token " + LockedLease.ofThread().fencingToken() + " on "
                    + Thread.currentThread().getName();
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(
                "Spring Boot " + SpringBootVersion.getVersion() + ", Lettuce " + LettuceVersion.getVersion());
        try (ConfigurableApplicationContext context = SpringApplication.run(Main.class, arguments)) {
            String address = "http://localhost:" + context.getEnvironment().getProperty("local.server.port");
            for (String path : new String[] {
                "/sell", "/actuator/health/holdfast", "/actuator/holdfast", "/actuator/holdfast?name=stock/42"
            }) {
                System.out.println(path + " " + get(address + path));
            }
            context.getBean(LockClient.class)
                    .lock("stock/7")
                    .withLock(Mono.fromRunnable(() -> System.out.println(
                            "works on " + Thread.currentThread().getName())))
                    .block(Duration.ofSeconds(10));
            System.out.println(context.getBean(Stock.class).sellAndBlock());
            context.getBean(MeterRegistry.class).getMeters().stream()
                    .map(Meter::getId)
                    .filter(it -> it.getName().startsWith("holdfast."))
                    .map(it -> "meter " + it.getName() + " " + it.getTags())
                    .sorted()
                    .forEach(System.out::println);
        }
    }

    private static String get(String address) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString())
                .body();
    }
}
