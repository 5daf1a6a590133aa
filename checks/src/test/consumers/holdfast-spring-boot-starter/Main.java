import io.holdfast.LockClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Mono;

@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Main {

    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext context = SpringApplication.run(Main.class, "--holdfast.backend=memory")) {
            System.out.println("held with token "
                    + context.getBean(LockClient.class)
                            .lock("stock/42")
                            .withLock(lease -> Mono.just(lease.fencingToken()))
                            .block());
        }
    }
}
