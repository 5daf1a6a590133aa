package io.holdfast.examples.nightly;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.spi.cluster.zookeeper.ZookeeperClusterManager;

/** Starts one instance. The only argument is its settings as JSON. */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        Running running = start(Settings.parse(arguments[0])).await();
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> running.vertx().close().await()));
        System.out.println("ready " + running.port());
    }

    static Future<Running> start(Settings settings) {
        ZookeeperClusterManager cluster = new ZookeeperClusterManager(settings.cluster());
        return Vertx.builder()
                .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost("127.0.0.1")))
                .withClusterManager(cluster)
                .buildClustered()
                .compose(vertx -> {
                    Application application = new Application(vertx, cluster, settings);
                    return vertx.deployVerticle(application)
                            .map(deployed -> new Running(vertx, application.port()))
                            .onFailure(failure -> vertx.close());
                });
    }

    /**
     * A running instance.
     *
     * @param port the port of its HTTP server
     */
    record Running(Vertx vertx, int port) {}
}
