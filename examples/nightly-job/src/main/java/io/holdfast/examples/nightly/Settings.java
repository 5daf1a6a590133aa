package io.holdfast.examples.nightly;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.time.LocalTime;

/**
 * The settings of one instance.
 *
 * @param instance its name, for the record of runs
 * @param port of the HTTP server; 0 for any free port
 * @param zooKeeper the addresses of the ZooKeeper servers, for the cluster and its locks
 * @param session the session time-out, which is how long the locks of a killed instance stay
 * @param database the JDBC URL
 * @param bureau the address of the credit bureau
 * @param patience how long a request waits for the lock of its customer
 * @param nightAt the time of day at which the work of a night is due, in UTC
 */
record Settings(
        String instance,
        int port,
        String zooKeeper,
        Duration session,
        String database,
        URI bureau,
        Duration patience,
        LocalTime nightAt) {

    static Settings parse(String json) {
        JsonObject settings = new JsonObject(json);
        return new Settings(
                settings.getString("instance"),
                settings.getInteger("port", 8080),
                settings.getString("zooKeeper"),
                Duration.ofMillis(settings.getLong("sessionMillis", 10_000L)),
                settings.getString("database"),
                URI.create(settings.getString("bureau")),
                Duration.ofMillis(settings.getLong("patienceMillis", 3_000L)),
                LocalTime.parse(settings.getString("nightAt", "02:00")));
    }

    String toJson() {
        return new JsonObject()
                .put("instance", instance)
                .put("port", port)
                .put("zooKeeper", zooKeeper)
                .put("sessionMillis", session.toMillis())
                .put("database", database)
                .put("bureau", bureau.toString())
                .put("patienceMillis", patience.toMillis())
                .put("nightAt", nightAt.toString())
                .encode();
    }

    JsonObject cluster() {
        return new JsonObject().put("zookeeperHosts", zooKeeper).put("sessionTimeout", session.toMillis());
    }
}
