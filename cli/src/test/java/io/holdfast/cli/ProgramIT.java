package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.etcd.jetcd.Client;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.etcd.EtcdLockBackend;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.redis.RedisAddress;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redlock.RedlockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.testkit.server.EtcdServer;
import io.holdfast.testkit.server.PostgresServer;
import io.holdfast.testkit.server.RedisServer;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Result;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Runs the jar as an operator does, against servers of each kind. */
class ProgramIT {

    private static final Path JAR = Path.of("target", "holdfast.jar");
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String OWNER = "orders:host-7:4711";

    /** A lock name that would clear the operator's terminal if it were not escaped. */
    private static final String HOSTILE = "stock\n\u001b[2J42";

    private record Ended(int code, String out, String err) {}

    @TempDir
    Path files;

    private static final List<String> PROGRAM = List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-jar",
            JAR.toString());

    private Ended run(Map<String, String> environment, String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(PROGRAM);
        command.addAll(Arrays.asList(words));
        return run(environment, command);
    }

    private Ended run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile(files, "out", "");
        Path err = Files.createTempFile(files, "err", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(
                        Files.createTempFile(files, "in", "").toFile()))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(PATIENCE.toSeconds() * 2, TimeUnit.SECONDS))
                .as("ended")
                .isTrue();
        return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    private static <T> T answer(Mono<T> question) {
        return Objects.requireNonNull(question.block(PATIENCE));
    }

    private static LockClient client(LockBackend backend) {
        return LockClient.builder(backend).owner(OWNER).build();
    }

    private static void end(LockClient client) {
        Object unused = client.close().block(PATIENCE);
    }

    @Test
    void locksInRedisAreListedShownAndBroken() throws Exception {
        try (RedisServer server = RedisServer.builder().password("geheim").start()) {
            LockClient client = client(RedisLockBackend.create(
                    RedisAddress.parse("redis://:geheim@%s:%d".formatted(server.host(), server.port()))));
            LockLease lease = answer(client.lock(HOSTILE).acquire());
            CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
            LockLease other = answer(client.semaphore("seats", 3).permits(2).acquire());
            LockLease another = answer(client.semaphore("seats", 3).acquire());
            String address = "redis://%s:%d".formatted(server.host(), server.port());
            Map<String, String> environment = Map.of("HOLDFAST_STORE", address, "HOLDFAST_PASSWORD", "geheim");

            Ended list = run(environment, "list");
            assertThat(list.err()).isEmpty();
            assertThat(list.code()).isZero();
            assertThat(list.out().lines())
                    .hasSize(4)
                    .anyMatch(line -> line.matches("LOCK +KIND +HOLDER +HELD +LEFT +WAITING"))
                    .anyMatch(line -> line.matches("stock\\\\n\\\\u001b\\[2J42 +mutex +" + OWNER + " .*"));

            Ended json = run(environment, "show", HOSTILE, "--json");
            assertThat(json.code()).isZero();
            assertThat(json.out().lines())
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("\"owner\":\"" + OWNER + "\"")
                            .contains("\"token\":" + lease.fencingToken()));

            Ended shown = run(environment, "show", "seats");
            assertThat(shown.out().lines())
                    .anyMatch(line -> line.matches(" +takes  2 permits"))
                    .anyMatch(line -> line.matches(" +token +" + another.fencingToken()));

            Ended unsure = run(environment, "break", HOSTILE);
            assertThat(unsure.code()).isEqualTo(2);
            assertThat(unsure.err()).contains("Type yes").contains("Nothing was changed");
            assertThat(lease.isValid()).isTrue();

            Ended ambiguous = run(environment, "break", "seats", "--yes");
            assertThat(ambiguous.code()).isEqualTo(2);
            assertThat(ambiguous.err())
                    .contains("2 claims hold lock 'seats'")
                    .contains("token " + other.fencingToken())
                    .contains("token " + another.fencingToken());

            Ended broken = run(environment, "break", HOSTILE, "--yes");
            assertThat(broken.err()).isEmpty();
            assertThat(broken.code()).isZero();
            assertThat(broken.out()).startsWith("Broken: " + OWNER);
            assertThat(answer(lease.renew().thenReturn(true).onErrorReturn(false)))
                    .isFalse();
            assertThat(loss.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.NOT_HELD);

            Ended refused = run(Map.of("HOLDFAST_STORE", address, "HOLDFAST_PASSWORD", "falsch"), "list");
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.err()).isNotEmpty().doesNotContain("falsch");
            end(client);
        }
    }

    @Test
    void showOnRedlockAsksAMajorityOfMasters() throws Exception {
        List<RedisServer> servers = Stream.generate(RedisServer::start).limit(3).toList();
        String hosts = servers.stream().map(it -> it.host() + ":" + it.port()).collect(Collectors.joining(","));
        LockClient client = client(RedlockBackend.over(servers.stream()
                .map(it -> RedisLockBackend.builder(RedisAddress.parse(it.uri()))
                        .quarantine(Duration.ZERO)
                        .build())
                .toList()));
        LockLease lease = answer(client.lock("orders").acquire());
        servers.get(2).stop();

        Ended shown = run(Map.of(), "show", "orders", "--store", "redis+redlock://" + hosts);

        assertThat(shown.code()).isZero();
        assertThat(shown.out())
                .contains(OWNER)
                .contains("masters: 2 of 3")
                .contains("WARNING: Master")
                .contains("did not answer");
        assertThat(lease.isValid()).isTrue();
        end(client);
        servers.forEach(RedisServer::close);
    }

    /** Lettuce warns of each sentinel that it cannot reach. */
    @Test
    void warningsOfDriversAreNotPrinted() throws Exception {
        Ended nothing = run(Map.of(), "doctor", "--store", "redis-sentinel://127.0.0.1:1,127.0.0.1:2#shop");

        assertThat(nothing.err()).isEmpty();
        assertThat(nothing.out()).startsWith("does not work connection");
        assertThat(nothing.code()).isEqualTo(1);
    }

    /** Java replaces what it cannot read, so the program would look for another lock. */
    @ParameterizedTest
    @CsvSource({"C, 2, Set LC_ALL=C.UTF-8", "C.UTF-8, 1, refused"})
    void aNameThatTheLocaleCannotReadIsRefused(String locale, int code, String message) throws Exception {
        // The shell writes UTF-8, whatever the locale of this JVM is.
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" \"$(printf 'caf\\303\\251')\"", "sh"));
        command.addAll(PROGRAM);
        command.addAll(List.of("--store", "redis://127.0.0.1:1", "show"));

        Ended ended = run(Map.of("LC_ALL", locale), command);

        assertThat(ended.err()).contains(message);
        assertThat(ended.code()).isEqualTo(code);
    }

    @Test
    void locksInZooKeeperAreListed() throws Exception {
        try (TestingServer server = new TestingServer();
                CuratorFramework curator =
                        CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100))) {
            curator.start();
            LockClient client = client(ZooKeeperLockBackend.over(curator));
            LockLease lease = answer(client.lock("orders").acquire());

            Ended list = run(Map.of(), "list", "--store", "zookeeper://" + server.getConnectString());

            assertThat(list.err()).isEmpty();
            assertThat(list.out()).contains(OWNER).contains("orders");
            assertThat(lease.isValid()).isTrue();
            end(client);
        }
    }

    @Test
    void locksInEtcdAreListedAndBroken() throws Exception {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
        try (EtcdServer server = EtcdServer.start();
                Client etcd = Client.builder().endpoints(server.endpoint()).build()) {
            LockClient client = client(EtcdLockBackend.over(etcd));
            LockLease lease = answer(client.lock("orders").acquire());
            CompletableFuture<LossReason> loss = lease.onLoss().toFuture();
            String address = "etcd://localhost:" + server.port();

            Ended list = run(Map.of(), "list", "--store", address);
            assertThat(list.err()).isEmpty();
            assertThat(list.out()).contains(OWNER).contains("orders");
            assertThat(run(Map.of(), "list", "--store", address, "--key-prefix", "other/")
                            .out())
                    .doesNotContain("orders");

            Ended broken = run(Map.of(), "break", "orders", "--yes", "--store", address);
            assertThat(broken.err()).isEmpty();
            assertThat(broken.out()).startsWith("Broken: " + OWNER);
            assertThat(loss.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.NOT_HELD);
            end(client);
        }
        Ended nothing = run(Map.of(), "list", "--store", "etcd://127.0.0.1:1");
        assertThat(nothing.code()).isEqualTo(1);
        assertThat(nothing.err().lines()).as(nothing.err()).hasSize(1);
    }

    @Test
    void locksInPostgresAreListed() throws Exception {
        try (PostgresServer server = PostgresServer.run()) {
            String address =
                    "r2dbc:postgresql://%s:%d/%s".formatted(server.host(), server.port(), PostgresServer.DATABASE);
            ConnectionFactory connections = ConnectionFactories.get(ConnectionFactoryOptions.parse(address)
                    .mutate()
                    .option(ConnectionFactoryOptions.USER, PostgresServer.USER)
                    .build());
            addSchema(connections);
            LockClient client = client(R2dbcLockBackend.create(connections));
            LockLease lease = answer(client.lock("orders").acquire());

            Ended list = run(Map.of("HOLDFAST_USER", PostgresServer.USER), "list", "--store", address);

            assertThat(list.err()).isEmpty();
            assertThat(list.out()).contains(OWNER).contains("orders");
            assertThat(lease.isValid()).isTrue();
            end(client);
        }
    }

    private static void addSchema(ConnectionFactory connections) throws IOException {
        try (InputStream schema =
                R2dbcLockBackend.class.getResourceAsStream("/io/holdfast/r2dbc/postgresql/holdfast-1.sql")) {
            String sql = new String(Objects.requireNonNull(schema).readAllBytes(), StandardCharsets.UTF_8);
            Object unused = Flux.usingWhen(
                            connections.create(),
                            open -> Flux.<Result>from(open.createStatement(sql).execute())
                                    .concatMap(Result::getRowsUpdated),
                            Connection::close)
                    .blockLast(PATIENCE);
        }
    }
}
