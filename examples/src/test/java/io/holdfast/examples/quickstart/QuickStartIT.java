package io.holdfast.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.testkit.server.EtcdServer;
import io.holdfast.testkit.server.PostgresServer;
import io.holdfast.testkit.server.RedisServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.Result;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;

/** The programs of the pages print the output of the pages, on real servers, and end. They run at the same time, since they mostly wait. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class QuickStartIT {

    private static RedisServer redisOfTheTerminals;
    private static List<RedisServer> masters;
    private static TestingServer zooKeeper;

    private static Program firstTerminal;
    private static Program redlock;
    private static Program inMemory;

    @BeforeAll
    static void start() throws Exception {
        redisOfTheTerminals = RedisServer.start();
        masters = List.of(RedisServer.start(), RedisServer.start(), RedisServer.start());
        zooKeeper = new TestingServer();
        firstTerminal = Program.start(TwoTerminals.class, redisOfTheTerminals.uri());
        redlock = Program.start(
                QuickStartRedlock.class, masters.stream().map(RedisServer::uri).toArray(String[]::new));
        inMemory = Program.start(QuickStartMemory.class);
    }

    @AfterAll
    static void stop() throws IOException {
        Stream.of(firstTerminal, redlock, inMemory).forEach(Program::kill);
        redisOfTheTerminals.close();
        masters.forEach(RedisServer::close);
        zooKeeper.close();
    }

    @Test
    void whenOneOfTwoTerminalsIsKilledTheOtherWorksNext() throws Exception {
        assertThat(firstTerminal.nextLine()).isEqualTo("waiting for the lock");
        long former = tokenIn(firstTerminal.nextLine());
        Program second = Program.start(TwoTerminals.class, redisOfTheTerminals.uri());

        firstTerminal.kill();

        String output = second.output();
        assertPrints("docs/start/redis.md", output);
        assertThat(tokenIn(output.lines().toList().get(1))).isGreaterThan(former);
    }

    @Test
    void theProgramForZooKeeperAcquiresWorksAndReleases() throws Exception {
        Program program = Program.start(QuickStartZooKeeper.class, zooKeeper.getConnectString());

        assertPrints("docs/start/zookeeper.md", program.output());
    }

    @Test
    void theProgramForEtcdAcquiresWorksAndReleases() throws Exception {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
        try (EtcdServer etcd = EtcdServer.start()) {
            assertPrints(
                    "docs/start/etcd.md",
                    Program.start(QuickStartEtcd.class, etcd.endpoint()).output());
        }
    }

    @Test
    void theProgramForRedlockAcquiresWorksAndReleases() throws Exception {
        assertPrints("docs/start/redlock.md", redlock.output());
    }

    @Test
    void theProgramInMemoryServesInOrder() throws Exception {
        assertPrints("docs/start/memory.md", inMemory.output());
    }

    @Test
    void theProgramForPostgresqlChecksItsLeaseInATransaction() throws Exception {
        try (PostgresServer server = PostgresServer.run("fsync=off")) {
            String address = "r2dbc:postgresql://%s@%s:%d/%s"
                    .formatted(PostgresServer.USER, server.host(), server.port(), PostgresServer.DATABASE);
            addLockTables(address);

            assertPrints(
                    "docs/start/postgresql.md",
                    Program.start(QuickStartPostgres.class, address).output());
        }
    }

    private static void addLockTables(String address) throws IOException {
        try (InputStream file = R2dbcLockBackend.class.getResourceAsStream("postgresql/holdfast-1.sql")) {
            String schema = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            Flux.usingWhen(
                            ConnectionFactories.get(address).create(),
                            connection -> Flux.from(
                                            connection.createBatch().add(schema).execute())
                                    .concatMap(Result::getRowsUpdated),
                            Connection::close)
                    .blockLast(Duration.ofMinutes(1));
        }
    }

    /** Compares a block of text with the output of the program. Tokens differ from run to run. */
    private static void assertPrints(String page, String output) throws IOException {
        assertThat(StartPages.blocks(page, "text").stream().map(QuickStartIT::withoutTokens))
                .contains(withoutTokens(output));
    }

    private static String withoutTokens(String output) {
        return output.replaceAll("token \\d+", "token N");
    }

    private static long tokenIn(String line) {
        return Long.parseLong(line.substring(line.indexOf("token ") + "token ".length()));
    }
}
