package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.RedisServer;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The service that the guide to Vert.x shows, as its reader runs it. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class AccountServiceIT {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @TempDir
    static Path classes;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void compile() throws Exception {
        GuideService.compile(classes);
    }

    @Test
    void noChargeIsLostAndAWaitEndsWithAConflictAtTheOtherInstance() throws Exception {
        try (RedisServer redis = RedisServer.start();
                GuideService first = GuideService.start(classes, FreePorts.next(), redis.uri());
                GuideService second = GuideService.start(classes, FreePorts.next(), redis.uri())) {
            first.awaitReady();
            second.awaitReady();

            List<CompletableFuture<HttpResponse<String>>> five = IntStream.range(0, 5)
                    .mapToObj(n -> charge(first, "42?amount=10"))
                    .toList();
            assertThat(five)
                    .extracting(it -> it.join().body())
                    .containsExactlyInAnyOrderElementsOf(List.of(10, 20, 30, 40, 50).stream()
                            .map("{\"customer\":\"42\",\"balance\":%d}"::formatted)
                            .toList());

            CompletableFuture<HttpResponse<String>> longCheck = charge(first, "7?check=8000");
            awaitHeld(redis, "customer/7");
            HttpResponse<String> refused = charge(second, "7").join();
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).contains("Others are charging this customer.");
            assertThat(longCheck.join().body()).contains("\"balance\":10");

            assertThat(charge(first, "7?amount=ten").join().statusCode()).isEqualTo(400);
            assertThat(first.end())
                    .as("exit code of a process that SIGTERM ended")
                    .isEqualTo(143);
        }
    }

    @Test
    void aServiceWhosePortIsInUseEnds() throws Exception {
        try (ServerSocket taken = new ServerSocket(0);
                GuideService service = GuideService.start(classes, taken.getLocalPort())) {
            assertThat(service.awaitEnd()).isEqualTo(1);
            assertThat(service.said()).noneMatch(line -> line.startsWith("ready"));
        }
    }

    @Test
    void aServiceWhoseRedisIsAwaySaysSoAndAnswersThatNothingWasCharged() throws Exception {
        String away = "redis://127.0.0.1:" + FreePorts.next();
        try (GuideService service = GuideService.start(classes, FreePorts.next(), away)) {
            service.awaitReady();

            assertThat(service.said()).anyMatch(line -> line.startsWith("The service starts without its locks: "));
            HttpResponse<String> refused = charge(service, "42").join();
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.body()).contains("Nothing was charged.");
        }
    }

    private CompletableFuture<HttpResponse<String>> charge(GuideService service, String customer) {
        String path = customer.contains("?") ? customer.replace("?", "/charges?") : customer + "/charges";
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://localhost:%d/customers/%s".formatted(service.port(), path)))
                .POST(HttpRequest.BodyPublishers.noBody())
                .timeout(LIMIT.multipliedBy(3))
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void awaitHeld(RedisServer redis, String lock) throws InterruptedException {
        LockClient client = LockClient.create(RedisLockBackend.create(RedisAddress.parse(redis.uri())));
        try {
            client.ping().block(LIMIT); // loads the driver, which may take longer than an attempt
            Town.until(lock + " is held", () -> isHeld(client, lock));
        } finally {
            client.close().block(LIMIT);
        }
    }

    private static boolean isHeld(LockClient client, String lock) {
        return Boolean.FALSE.equals(client.lock(lock)
                .tryAcquire()
                .flatMap(lease -> lease.release().thenReturn(true))
                .defaultIfEmpty(false)
                .block(LIMIT));
    }
}
