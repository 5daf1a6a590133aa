package io.holdfast.proof.soak;

import java.util.Locale;

/** The sampled figures. Memory is in bytes. */
enum Column {
    SECONDS("time", Unit.SECONDS, 0),
    CYCLES("cycles", Unit.PER_SECOND, 0),
    MEDIAN("time to acquire, median", Unit.MILLISECONDS, 0),
    HIGH("time to acquire, 99 of 100", Unit.MILLISECONDS, 0),
    ERRORS("errors", Unit.COUNT, 0),
    LOST("leases lost", Unit.COUNT, 0),
    HEAP("client: heap after a collection", Unit.BYTES, 0.03),
    NON_HEAP("client: memory outside of the heap", Unit.BYTES, 0),
    DIRECT("client: direct buffers", Unit.BYTES, 0.1),
    NETTY("client: Netty's pool", Unit.BYTES, 0.1),
    THREADS("client: threads", Unit.COUNT, 0.1),
    CLASSES("client: loaded classes", Unit.COUNT, 0),
    HOLDS("client: leases held", Unit.COUNT, 0),
    WAITS("client: acquisitions that wait", Unit.COUNT, 0),
    CLIENT_FILES("client: open files", Unit.COUNT, 0.1),
    CLIENT_MEMORY("client: private memory", Unit.BYTES, 0),
    CLIENT_CPU("client: processors used", Unit.CORES, 0),
    SERVER_FILES("servers: open files", Unit.COUNT, 0.1),
    SERVER_MEMORY("servers: private memory", Unit.BYTES, 0.1),
    SERVER_CPU("servers: processors used", Unit.CORES, 0),
    STORE_BYTES("store: memory", Unit.BYTES, 0.1),
    KEYS("store: keys", Unit.COUNT, 0.1),
    CONNECTIONS("store: connections", Unit.COUNT, 0.1);

    /** The formats of figures. */
    enum Unit {
        SECONDS,
        PER_SECOND,
        MILLISECONDS,
        COUNT,
        BYTES,
        CORES
    }

    private final String title;
    private final Unit unit;
    private final double share;

    Column(String title, Unit unit, double share) {
        this.title = title;
        this.unit = unit;
        this.share = share;
    }

    String title() {
        return title;
    }

    Unit unit() {
        return unit;
    }

    /** The growth in eight hours that is allowed, as a fraction of the level. */
    double share() {
        return share;
    }

    /**
     * How many seconds the figure may rise at the start: bounded memories of claims fill, a JVM loads classes, tables reach their size, and keys
     * follow the rate. If the second half begins earlier, it cannot show growth.
     */
    int settlesSeconds() {
        return switch (this) {
            case HEAP -> 1_200;
            case STORE_BYTES, SERVER_MEMORY, KEYS -> 600;
            default -> 0;
        };
    }

    boolean isJudged(Target target) {
        return share > 0 && !(this == SERVER_MEMORY && target.hasServersInJava());
    }

    String text(double value) {
        return switch (unit) {
            case SECONDS -> String.format(Locale.ROOT, "%,.0f s", value);
            case PER_SECOND -> String.format(Locale.ROOT, "%,.0f/s", value);
            case MILLISECONDS -> String.format(Locale.ROOT, "%,.2f ms", value);
            case COUNT -> String.format(Locale.ROOT, Math.abs(value) < 100 ? "%.1f" : "%,.0f", value);
            case BYTES -> String.format(Locale.ROOT, "%,.2f MB", value / 1e6);
            case CORES -> String.format(Locale.ROOT, "%.2f", value);
        };
    }
}
