package io.holdfast.benchmarks.peer;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of the servers of a run. Each process of the run gets them as system properties, so that all measure on the same
 * servers.
 *
 * @param redis a URI, such as {@code redis://127.0.0.1:40001}
 * @param masters five more
 * @param masterPids their processes, in the same order
 * @param zookeeper a connect string
 * @param database a PostgreSQL; null for a run that needs none
 */
public record Addresses(
        String redis,
        List<String> masters,
        List<Long> masterPids,
        String zookeeper,
        @Nullable Postgres database) {

    private static final String PREFIX = "holdfast.benchmarks.";

    /** Makes addresses without a PostgreSQL. */
    public Addresses(String redis, List<String> masters, List<Long> masterPids, String zookeeper) {
        this(redis, masters, masterPids, zookeeper, null);
    }

    /** Reads the addresses from the system properties of this process. */
    public static Addresses given() {
        return new Addresses(
                required("redis"),
                List.of(required("masters").split(",", -1)),
                Stream.of(required("masterPids").split(",", -1))
                        .map(Long::valueOf)
                        .toList(),
                required("zookeeper"),
                givenDatabase());
    }

    private static @Nullable Postgres givenDatabase() {
        String text = required("postgres");
        return text.isEmpty() ? null : Postgres.parse(text);
    }

    /**
     * Returns the PostgreSQL of this run.
     *
     * @throws IllegalStateException if this run has none
     */
    public Postgres postgres() {
        if (database == null) {
            throw new IllegalStateException("this run has no PostgreSQL");
        }
        return database;
    }

    /** Returns the system properties for the command line of another process. */
    public List<String> asArguments() {
        return List.of(
                argument("redis", redis),
                argument("masters", String.join(",", masters)),
                argument(
                        "masterPids",
                        String.join(
                                ",", masterPids.stream().map(String::valueOf).toList())),
                argument("zookeeper", zookeeper),
                argument("postgres", database == null ? "" : database.asText()));
    }

    private static String argument(String name, String value) {
        return "-D" + PREFIX + name + "=" + value;
    }

    private static String required(String name) {
        String value = System.getProperty(PREFIX + name);
        if (value == null) {
            throw new IllegalStateException(
                    "no servers: -D%s%s is not set; ./benchmarks/run starts them and sets it".formatted(PREFIX, name));
        }
        return value;
    }
}
