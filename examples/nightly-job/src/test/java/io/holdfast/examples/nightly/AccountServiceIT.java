package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockReport;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redis.RedisLockInspector;
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

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

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

            List<CompletableFuture<HttpResponse<String>>> five =
                    IntStream.range(0, 5).mapToObj(n -> charge(first, "42")).toList();
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

            assertThat(first.end())
                    .as("exit code of a process that SIGTERM ended")
                    .isEqualTo(143);
        }
    }

    @Test
    void aServiceThatIsStoppedAnswersItsWaitersAndLetsTheHolderFinish() throws Exception {
        try (RedisServer redis = RedisServer.start();
                GuideService service = GuideService.start(classes, FreePorts.next(), redis.uri())) {
            service.awaitReady();
            CompletableFuture<HttpResponse<String>> holder = charge(service, "7?check=6000");
            awaitHeld(redis, "customer/7");
            List<CompletableFuture<HttpResponse<String>>> waiters =
                    IntStream.range(0, 100).mapToObj(n -> charge(service, "7")).toList();
            awaitWaiters(redis, "customer/7", 100);

            long begun = System.nanoTime();
            int exit = service.end();

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
            assertThat(exit).isEqualTo(143);
            assertThat(waiters).extracting(waiter -> waiter.join().statusCode()).containsOnly(503);
            assertThat(holder.join().body()).isEqualTo("{\"customer\":\"7\",\"balance\":10}");
            awaitWaiters(redis, "customer/7", 0);
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

    private static void awaitWaiters(RedisServer redis, String lock, int count) throws InterruptedException {
        RedisLockInspector inspector =
                RedisLockBackend.builder(RedisAddress.parse(redis.uri())).inspector();
        try {
            Town.until(
                    count + " wait",
                    () -> inspector
                            .inspect(lock)
                            .filter(it -> it.type() == LockReport.Type.MUTEX)
                            .any(it -> it.waiterCount() == count && it.isHeld() == count > 0)
                            .block(LIMIT));
        } finally {
            inspector.close().block(LIMIT);
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
