package io.holdfast.examples.nightly;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.testkit.server.FreePorts;
import io.vertx.core.Future;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.tools.Server;

/** The environment of the instances: a real ZooKeeper, a database server, and a credit bureau that a test can slow down. */
final class Town implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Longer than any wait of a test: a request that ends within a test has not run into this limit. */
    static final Duration ENDLESS = PATIENCE.multipliedBy(4);

    static final long LIMIT = 1_000_000;

    private static final String HOST = "127.0.0.1";
    private static final Duration SESSION = Duration.ofSeconds(5); // a busy machine may stand still for most of it
    private static final int TICK_MILLIS = 500; // a session lasts at least two ticks

    private final TestingServer zooKeeper;
    private final CuratorFramework eye;
    private final Connection database;
    private final Server databaseServer;
    private final HttpServer bureau;
    private final ExecutorService bureauStaff = Executors.newCachedThreadPool();
    /** With HTTP/2, the client of the JDK gives up its requests when the server says that it shuts down. */
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Map<String, Hesitation> hesitations = new ConcurrentHashMap<>();

    private Town() throws Exception {
        System.setProperty("h2.bindAddress", HOST);
        zooKeeper = new TestingServer(
                new InstanceSpec(
                        null,
                        FreePorts.next(),
                        FreePorts.next(),
                        FreePorts.next(),
                        true,
                        -1,
                        TICK_MILLIS,
                        -1,
                        null,
                        HOST),
                true);
        eye = CuratorFrameworkFactory.newClient(zooKeeper.getConnectString(), new RetryOneTime(100));
        eye.start();
        databaseServer = Server.createTcpServer("-tcpPort", "0").start();
        database = DriverManager.getConnection("jdbc:h2:mem:" + databaseName() + ";DB_CLOSE_DELAY=-1", "sa", "");
        bureau = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        bureau.createContext("/limits/", this::answerLimit);
        bureau.setExecutor(bureauStaff);
        bureau.start();
    }

    static Town withCustomers(String... customers) throws Exception {
        Town town = new Town();
        try (Statement statement = town.database.createStatement()) {
            statement.execute(schema());
            for (String customer : customers) {
                statement.execute("insert into customer values ('%s', 0, 0)".formatted(customer));
            }
        }
        return town;
    }

    private static String schema() throws IOException {
        try (InputStream schema = requireNonNull(Main.class.getResourceAsStream("/schema.sql"))) {
            return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** In this JVM, with the tables. */
    static JdbcConnectionPool emptyDatabase() {
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:", "sa", "");
        pool.setMaxConnections(1); // each connection to a database without a name has a database of its own
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(schema());
        } catch (IOException | SQLException e) {
            throw new AssertionError(e);
        }
        return pool;
    }

    private String databaseName() {
        return "town" + databaseServer.getPort();
    }

    /** A night was due six hours ago, so no night begins during a test. */
    Settings settings(String instance, Duration patience) {
        return new Settings(
                instance,
                0,
                zooKeeper.getConnectString(),
                SESSION,
                "jdbc:h2:tcp://%s:%d/mem:%s".formatted(HOST, databaseServer.getPort(), databaseName()),
                URI.create("http://%s:%d".formatted(HOST, bureau.getAddress().getPort())),
                patience,
                LocalTime.now(ZoneOffset.UTC).minusHours(6).withNano(0));
    }

    TestingServer zooKeeper() {
        return zooKeeper;
    }

    /** Makes the bureau hold back its answer to that instance about that customer, until the test releases it. */
    Hesitation hesitate(String instance, String customer) {
        Hesitation hesitation = new Hesitation(new CountDownLatch(1), new CountDownLatch(1));
        hesitations.put(instance + '/' + customer, hesitation);
        return hesitation;
    }

    record Hesitation(CountDownLatch asked, CountDownLatch answer) {

        void awaitQuestion() throws InterruptedException {
            assertThat(asked.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        }

        void end() {
            answer.countDown();
        }
    }

    private void answerLimit(HttpExchange question) throws IOException {
        String customer = question.getRequestURI().getPath().substring("/limits/".length());
        String instance = question.getRequestHeaders().getFirst("User-Agent");
        Hesitation hesitation = hesitations.remove(instance + '/' + customer);
        try (question) {
            if (hesitation != null) {
                hesitation.asked().countDown();
                if (!hesitation.answer().await(2 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            }
            byte[] limit = Long.toString(LIMIT).getBytes(StandardCharsets.UTF_8);
            question.sendResponseHeaders(200, limit.length);
            question.getResponseBody().write(limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    CompletableFuture<HttpResponse<String>> charge(int port, String customer, long amount) {
        return charge(port, customer, UUID.randomUUID().toString(), amount);
    }

    CompletableFuture<HttpResponse<String>> charge(int port, String customer, String id, long amount) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://%s:%d/customers/%s/charges".formatted(HOST, port, customer)))
                .POST(HttpRequest.BodyPublishers.ofString("{\"id\": \"%s\", \"amount\": %d}".formatted(id, amount)))
                .build();
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Returns how many claims hold that lock or wait for it. */
    int claimsOf(String lock) {
        String queue = "/io.vertx/holdfast/mutex/" + lock.replace("/", "%2F");
        try {
            return eye.getChildren().forPath(queue).size();
        } catch (KeeperException.NoNodeException none) {
            return 0;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the rows, each as a list of its columns. */
    synchronized List<List<Object>> query(String sql) {
        try (Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<List<Object>> rows = new ArrayList<>();
            while (row.next()) {
                List<Object> columns = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    columns.add(row.getObject(i));
                }
                rows.add(columns);
            }
            return rows;
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    List<Object> column(String sql) {
        return query(sql).stream().map(row -> row.get(0)).toList();
    }

    static void until(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            Thread.sleep(10);
        }
    }

    @CanIgnoreReturnValue
    static <T> T done(CompletableFuture<T> future) {
        assertThat(future).succeedsWithin(PATIENCE);
        return future.join();
    }

    @CanIgnoreReturnValue
    static <T> T done(Future<T> future) {
        return done(future.toCompletionStage().toCompletableFuture());
    }

    @Override
    public void close() throws IOException, SQLException {
        hesitations.values().forEach(Hesitation::end);
        bureau.stop(0);
        bureauStaff.shutdownNow();
        eye.close();
        zooKeeper.close();
        try (Statement statement = database.createStatement()) {
            statement.execute("shutdown");
        }
        databaseServer.stop();
    }
}
