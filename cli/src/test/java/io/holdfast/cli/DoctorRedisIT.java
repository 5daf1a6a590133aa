package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.server.RedisCluster;
import io.holdfast.testkit.server.RedisReplicas;
import io.holdfast.testkit.server.RedisSentinels;
import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each check of the doctor, on servers that are fit and on servers that are made to fail it. */
@Execution(ExecutionMode.CONCURRENT)
class DoctorRedisIT {

    private static String address(RedisServer server) {
        return "redis://%s:%d".formatted(server.host(), server.port());
    }

    private static Examined examine(RedisServer server) {
        return Examined.at(address(server), Map.of());
    }

    private static long keys(RedisServer server) {
        RedisClient client = RedisClient.create(RedisURI.create(server.uri()));
        try (var link = client.connect()) {
            return link.sync().dbsize();
        } finally {
            client.shutdown();
        }
    }

    @Test
    void fitServerWorksAndKeepsNothing() {
        try (RedisServer server = RedisServer.start()) {
            Examined fit = examine(server);

            assertThat(fit.err()).isEmpty();
            assertThat(fit.code()).as(fit.out()).isZero();
            assertThat(fit.out())
                    .contains("Locks work on this server.")
                    .doesNotContain("unknown  ")
                    .containsOnlyOnce("does not work");
            assertThat(fit.line("replicas and WAIT"))
                    .startsWith("does not work")
                    .contains("0 replicas");
            assertThat(keys(server)).isZero();
        }
    }

    @Test
    void jsonHasAnObjectForEachCheck() {
        try (RedisServer server = RedisServer.start()) {
            assertThat(Examined.at(address(server), Map.of(), "--json").out().lines())
                    .hasSizeGreaterThan(10)
                    .allMatch(line -> line.startsWith("{\"check\":\"") && line.endsWith("\"}"))
                    .anyMatch(
                            line -> line.startsWith(
                                    "{\"check\":\"maxmemory-policy\",\"needed\":true,\"result\":\"WORKS\",\"found\":\"noeviction\""));
        }
    }

    /** A user without a right, or a server that has renamed a command. */
    @ParameterizedTest
    @CsvSource({
        "-zmscore,          commands in scripts,                        does not work, zmscore, 1",
        "-evalsha,          'scripts (EVALSHA, EVAL)',                  does not work, NOPERM,  1",
        "-script,           SCRIPT LOAD,                                does not work, NOPERM,  0",
        "-subscribe,        messages on the connection of the commands, does not work, NOPERM,  1",
        "-wait,             replicas and WAIT,                          does not work, NOPERM,  0",
        "-client|tracking,  CLIENT TRACKING,                            does not work, NOPERM,  0",
        "-info,             maxmemory-policy,                           unknown,       NOPERM,  0",
        "-info,             version,                                    unknown,       NOPERM,  0",
        "-config,           client-output-buffer-limit pubsub,          unknown,       NOPERM,  0",
        "-time,             clock,                                      unknown,       NOPERM,  1",
        "-ping,             latency,                                    does not work, NOPERM,  0",
        "-set,              writes,                                     does not work, NOPERM,  1"
    })
    void missingRightIsNamed(String right, String check, String result, String word, int code) {
        String refused =
                right.equals("-client|tracking") ? "-client" : right; // 6.2 cannot take away a part of a command
        try (RedisServer server = RedisServer.builder()
                .args("--user", "default", "on", "nopass", "~*", "&*", "+@all", refused)
                .start()) {
            Examined examined = examine(server);

            assertThat(examined.line(check)).startsWith(result).contains(word);
            assertThat(examined.code()).as(examined.out()).isEqualTo(code);
        }
    }

    @Test
    void keysThatTheUserMayNotUseAreFound() {
        try (RedisServer server = RedisServer.builder()
                .args(
                        "--user",
                        "default",
                        "on",
                        "nopass",
                        "resetkeys",
                        "resetchannels",
                        "~other:*",
                        "&other:*",
                        "+@all")
                .start()) {
            Examined wrong = examine(server);
            assertThat(wrong.line("writes")).startsWith("does not work").contains("NOPERM");
            assertThat(wrong.code()).isOne();

            Examined right = Examined.at(address(server), Map.of(), "--key-prefix", "other:");
            assertThat(right.code()).as(right.out()).isZero();
        }
    }

    @Test
    void evictionAndAShortBufferAreFound() {
        try (RedisServer server = RedisServer.builder()
                .args(
                        "--maxmemory-policy",
                        "allkeys-lru",
                        "--client-output-buffer-limit",
                        "pubsub",
                        "1000",
                        "500",
                        "60")
                .start()) {
            Examined evicting = examine(server);

            assertThat(evicting.line("maxmemory-policy")).isEqualTo("does not work maxmemory-policy: allkeys-lru");
            assertThat(evicting.line("client-output-buffer-limit pubsub")).startsWith("does not work");
            assertThat(evicting.out()).contains("Set maxmemory-policy to noeviction");
            assertThat(evicting.code()).isOne();
        }
    }

    @Test
    void serverWithoutResp3IsCheckedAllTheSame() {
        try (RedisServer server =
                RedisServer.builder().args("--rename-command", "HELLO", "").start()) {
            Examined old = examine(server);

            assertThat(old.line("RESP3 (HELLO 3)")).startsWith("does not work");
            assertThat(old.line("commands in scripts")).startsWith("works");
            assertThat(old.line("messages on the connection of the commands")).startsWith("does not work");
            assertThat(old.out()).contains("Upgrade to Redis 6.2 or newer, allow +hello");
            assertThat(old.code()).isOne();
        }
    }

    @Test
    void replicaIsRefusedAndAMasterSeesIt() {
        try (RedisReplicas servers = RedisReplicas.start(1)) {
            assertThat(examine(servers.master()).line("replicas and WAIT"))
                    .isEqualTo("works         replicas and WAIT: 1 replicas have confirmed a write");

            Examined replica = examine(servers.replicas().get(0));
            assertThat(replica.line("writes")).startsWith("does not work").contains("READONLY");
            assertThat(replica.code()).isOne();
        }
    }

    @Test
    void eachMasterOfAClusterIsChecked() {
        try (RedisCluster cluster = RedisCluster.start()) {
            RedisServer any = cluster.masters().get(1);
            Examined whole = Examined.at("redis+cluster://%s:%d".formatted(any.host(), any.port()), Map.of());

            assertThat(whole.line("slots of the cluster"))
                    .isEqualTo("works         slots of the cluster: 16384 of 16384 slots, 3 masters");
            assertThat(whole.line("a lock is taken and handed over")).startsWith("works");
            assertThat(cluster.masters())
                    .allMatch(master -> whole.out()
                            .contains("works         connection: %s:%d".formatted(master.host(), master.port())));
            assertThat(whole.code()).as(whole.out()).isZero();
            assertThat(cluster.masters()).allMatch(master -> keys(master) == 0);

            // Of the keys that a check writes, some are in the slots of this master, by chance the first one too.
            assertThat(cluster.masters()).allSatisfy(master -> {
                Examined asOne = examine(master);
                assertThat(asOne.out()).contains("MOVED").contains("redis+cluster:// for a cluster");
                assertThat(asOne.code()).isOne();
            });
        }
    }

    @Test
    void sentinelsAreCounted() {
        try (RedisSentinels sentinels = RedisSentinels.start()) {
            Examined behind = Examined.at(sentinels.uri(), Map.of());

            assertThat(behind.err()).isEmpty();
            assertThat(behind.line("sentinels")).contains(" sentinels, quorum ").contains("1 replicas");
            assertThat(behind.line("a lock is taken and handed over")).startsWith("works");
            assertThat(behind.code()).as(behind.out()).isZero();
        }
    }

    @Test
    void masterOfARedlockThatIsDownIsNamed() {
        List<RedisServer> servers = Stream.generate(RedisServer::start).limit(3).toList();
        String address = servers.stream()
                .map(it -> it.host() + ":" + it.port())
                .collect(Collectors.joining(",", "redis+redlock://", ""));
        Examined up = Examined.at(address, Map.of());
        assertThat(up.line("masters of the Redlock")).startsWith("works");
        assertThat(up.code()).as(up.out()).isZero();

        servers.get(2).stop();
        Examined down = Examined.at(address, Map.of());
        assertThat(down.line("masters of the Redlock"))
                .isEqualTo("does not work masters of the Redlock: 2 of 3 can be reached");
        assertThat(down.out()).contains("Connection refused");
        assertThat(down.code()).isOne();
        servers.forEach(RedisServer::close);
    }

    @Test
    void passwordIsNeverPrinted() {
        try (RedisServer server = RedisServer.builder().password("geheim").start()) {
            Examined wrong = Examined.at(address(server), Map.of("HOLDFAST_PASSWORD", "falsch"));
            assertThat(wrong.line("connection")).startsWith("does not work").contains("password is wrong");
            assertThat(wrong.out() + wrong.err()).doesNotContain("falsch");
            assertThat(wrong.code()).isOne();

            Examined right = Examined.at(address(server), Map.of("HOLDFAST_PASSWORD", "geheim"));
            assertThat(right.code()).as(right.out()).isZero();
            assertThat(right.out()).doesNotContain("geheim");
        }
    }

    /** Such a server repeats in its error what it was sent. */
    @Test
    void passwordThatAServerRepeatsIsNotPrinted() {
        try (RedisServer server = RedisServer.builder()
                .password("geheim")
                .args("--rename-command", "HELLO", "")
                .start()) {
            Map<String, String> environment = Map.of("HOLDFAST_PASSWORD", "geheim");
            for (String command : List.of("doctor", "list")) {
                Examined printed = Examined.of(command, Duration.ofSeconds(30), address(server), environment);
                assertThat(printed.out() + printed.err())
                        .contains("unknown command")
                        .doesNotContain("geheim");
                assertThat(printed.code()).isOne();
            }
        }
    }

    @Test
    void silentServerAndWrongAddressEndInTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Examined hanging = Examined.briefly("redis://127.0.0.1:" + silent.getLocalPort());
            assertThat(hanging.line("connection")).startsWith("does not work");
            assertThat(hanging.code()).isOne();
            assertThat(hanging.took()).isLessThan(Duration.ofSeconds(8));
        }
        Examined nowhere = Examined.at("redis://no-such-host.invalid", Map.of());
        assertThat(nowhere.line("connection")).startsWith("does not work").contains("host name is not known");
        assertThat(nowhere.code()).isOne();
    }
}
