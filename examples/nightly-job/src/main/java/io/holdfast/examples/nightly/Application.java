package io.holdfast.examples.nightly;

import io.holdfast.LockClient;
import io.holdfast.vertx.VertxLocks;
import io.holdfast.zookeeper.vertx.ZooKeeperVertx;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;
import java.time.Clock;
import java.util.List;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * One instance, which owns the resources of its two verticles. They are its children, so Vert.x undeploys them first: their work has ended when
 * this class closes the client. The session with ZooKeeper ends after that, together with its Vert.x.
 */
final class Application extends VerticleBase {

    private final LockClient client;
    private final JdbcConnectionPool database;
    private final HttpServer server;
    private final CustomerRoutes routes;
    private final NightlyJob job;

    Application(Vertx vertx, ZookeeperClusterManager cluster, Settings settings) {
        client = LockClient.create(ZooKeeperVertx.overVertx(cluster)); // on the session of the cluster
        database = JdbcConnectionPool.create(settings.database(), "sa", "");
        server = vertx.createHttpServer();
        Accounts accounts = new Accounts(vertx, database, settings.instance());
        Bureau bureau = new Bureau(vertx, settings.bureau(), settings.instance());
        routes = new CustomerRoutes(server, settings, VertxLocks.of(client, vertx), accounts, bureau);
        job = new NightlyJob(
                VertxLocks.of(client, vertx),
                accounts,
                () -> statements(accounts, bureau),
                new Nights(settings.nightAt()),
                Clock.systemUTC());
    }

    @Override
    public Future<?> start() {
        return Future.all(vertx.deployVerticle(routes), vertx.deployVerticle(job));
    }

    int port() {
        return server.actualPort();
    }

    private static Future<List<Statement>> statements(Accounts accounts, Bureau bureau) {
        return accounts.balances()
                .compose(balances -> Future.all(balances.entrySet().stream()
                        .map(each -> statement(bureau, each.getKey(), each.getValue()))
                        .toList()))
                .map(all -> all.list());
    }

    private static Future<Statement> statement(Bureau bureau, String customer, long balance) {
        return bureau.limitOf(customer).map(limit -> new Statement(customer, balance, limit - balance));
    }

    @Override
    public Future<?> stop() {
        return Future.fromCompletionStage(client.close().toFuture(), context)
                .eventually(() -> vertx.executeBlocking(() -> {
                    database.dispose();
                    return database;
                }));
    }
}
