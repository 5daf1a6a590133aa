package io.holdfast.benchmarks.report;

import io.holdfast.benchmarks.chart.Tone;
import java.util.Arrays;

/** The ways to lock, as users know them, in the order of a chart. A name of the results may mean something else at another store. */
public enum Contender {
    /** This library. */
    HOLDFAST("", "HOLDFAST", "Holdfast", Tone.HOLDFAST),
    /** The same. */
    HAND_OVER("", "HAND_OVER", "Holdfast with local hand-over", Tone.HOLDFAST),
    /** The release and the grant, without the library: a round trip. */
    ROUND_TRIP("Redis", "ROUND_TRIP", "a raw round trip (limit)", Tone.LIMIT),
    /** Redisson's plain lock. */
    REDISSON("Redis", "REDISSON", "Redisson, plain lock", Tone.ORANGE),
    /** Redisson's fair lock. */
    REDISSON_FAIR("Redis", "REDISSON_FAIR", "Redisson, fair lock", Tone.PURPLE),
    /** Redisson's MultiLock. */
    REDISSON_MULTI("Redlock", "REDISSON_MULTI", "Redisson, MultiLock", Tone.ORANGE),
    /** Spring Integration's lock registry on Redis. */
    SPRING("Redis", "SPRING", "Spring Integration", Tone.GREEN),
    /** Spring Integration's lock registry on JDBC. */
    SPRING_JDBC("PostgreSQL", "SPRING", "Spring Integration, JDBC", Tone.GREEN),
    /** Curator's mutex. */
    CURATOR("ZooKeeper", "CURATOR", "Curator", Tone.ORANGE),
    /** The lock of a clustered Vert.x. */
    VERTX("ZooKeeper", "VERTX", "Vert.x", Tone.GREEN),
    /** ShedLock's provider for R2DBC. */
    SHEDLOCK("PostgreSQL", "SHEDLOCK", "ShedLock", Tone.ORANGE),
    /** An advisory lock of a session. */
    ADVISORY("PostgreSQL", "ADVISORY", "PostgreSQL advisory lock", Tone.PURPLE),
    /** The fewest requests that could work, at Redis. */
    LETTUCE("Redis", "LETTUCE", "raw Lettuce (limit)", Tone.LIMIT),
    /** The fewest requests that could work, at five masters. */
    LETTUCE_QUORUM("Redlock", "LETTUCE", "five raw requests (limit)", Tone.LIMIT),
    /** The fewest requests that could work, at ZooKeeper. */
    RAW_ZOOKEEPER("ZooKeeper", "RAW", "raw async calls (limit)", Tone.LIMIT),
    /** The functions of Holdfast in the database, called one by one. */
    RAW_POSTGRES("PostgreSQL", "RAW", "its SQL functions, bare", Tone.LIMIT),
    /** Commits without a lock. */
    COMMIT("PostgreSQL", "COMMIT", "bare commits (limit)", Tone.LIMIT),
    /** The process that holds leases. */
    CLIENT("Redis", "CLIENT", "Holdfast, the client", Tone.HOLDFAST),
    /** The server that stores them. */
    SERVER("Redis", "SERVER", "Redis, the server", Tone.LIMIT);

    private final String store;
    private final String key;
    private final String title;
    private final Tone tone;

    Contender(String store, String key, String title, Tone tone) {
        this.store = store;
        this.key = key;
        this.title = title;
        this.tone = tone;
    }

    /**
     * Finds it.
     *
     * @param benchmark such as {@code RedisUncontended}
     * @param key the name that the results have for it
     * @throws IllegalArgumentException if it has no name for users yet
     */
    public static Contender of(String benchmark, String key) {
        String store = Words.store(benchmark);
        return Arrays.stream(values())
                .filter(it -> it.key.equals(key))
                .filter(it -> it.store.isEmpty() || it.store.equals(store))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "add a name for users: '%s' at %s has none".formatted(key, store)));
    }

    /** For people. */
    public String title() {
        return title;
    }

    /** Of its bar or line. */
    Tone tone() {
        return tone;
    }
}
