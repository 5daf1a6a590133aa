package io.holdfast.examples.nightly;

import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.time.LocalTime;

/**
 * What one instance is told.
 *
 * @param instance its name, for the record of runs
 * @param port of the HTTP server; 0 is any
 * @param zooKeeper addresses, for the cluster and its locks
 * @param session how long the locks of a killed instance stay
 * @param database JDBC
 * @param bureau the credit bureau
 * @param patience how long a request waits for its customer
 * @param nightAt when the night's work is due, UTC
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
