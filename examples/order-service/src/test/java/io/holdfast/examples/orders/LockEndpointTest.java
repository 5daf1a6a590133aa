package io.holdfast.examples.orders;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The actuator endpoint of the starter over HTTP, on WebFlux. */
class LockEndpointTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newHttpClient();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private static ConfigurableApplicationContext start(String access, String exposed) {
        return new SpringApplicationBuilder(Application.class)
                .run(
                        "--spring.profiles.active=memory",
                        "--holdfast.backend=memory",
                        "--server.port=0",
                        "--management.endpoint.holdfast.access=" + access,
                        "--management.endpoints.web.exposure.include=" + exposed);
    }

    private HttpResponse<String> ask(ConfigurableApplicationContext service, String method, String path)
            throws IOException, InterruptedException {
        int port = requireNonNull(service.getEnvironment().getProperty("local.server.port", Integer.class));
        URI uri = URI.create("http://localhost:%d/actuator/holdfast%s".formatted(port, path));
        return http.send(
                HttpRequest.newBuilder(uri)
                        .timeout(LIMIT)
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Characters outside ASCII are encoded. */
    @ParameterizedTest
    @CsvSource({"stock/42, stock/42", "a//b/, a//b/", "'caf\u00e9/a b', caf%C3%A9/a%20b"})
    void aLockIsSeenAndBrokenOverHttp(String name, String encoded) throws IOException, InterruptedException {
        String path = "?name=" + encoded;
        try (ConfigurableApplicationContext service = start("unrestricted", "holdfast")) {
            LockLease lease = requireNonNull(
                    service.getBean(LockClient.class).lock(name).acquire().block(LIMIT));

            assertThat(ask(service, "GET", "").body()).contains("\"holdCount\":1", "\"name\":\"" + name + "\"");
            assertThat(ask(service, "GET", path).body())
                    .contains("\"type\":\"MUTEX\"", "\"token\":" + lease.fencingToken());
            assertThat(ask(service, "DELETE", path).body()).contains("\"broken\":true");

            assertThat(lease.onLoss().block(LIMIT)).isEqualTo(LossReason.NOT_HELD);
            assertThat(ask(service, "GET", "?name=unknown").statusCode()).isEqualTo(404);
        }
    }

    @ParameterizedTest
    @CsvSource({"read-only, holdfast, 200, 405", "unrestricted, health, 404, 404", "none, holdfast, 404, 404"})
    void theApplicationDecidesWhichOperationsExist(String access, String exposed, int get, int delete)
            throws IOException, InterruptedException {
        try (ConfigurableApplicationContext service = start(access, exposed)) {
            LockLease lease = requireNonNull(
                    service.getBean(LockClient.class).lock("stock/42").acquire().block(LIMIT));

            assertThat(ask(service, "GET", "?name=stock/42").statusCode()).isEqualTo(get);
            assertThat(ask(service, "DELETE", "?name=stock/42").statusCode()).isEqualTo(delete);
            assertThat(lease.isValid()).isTrue();
        }
    }
}
