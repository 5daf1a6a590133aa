package io.holdfast.examples.flashsale;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

/** The command-line program of the demo. See {@link Settings#USAGE}. */
public final class FlashSale {

    /** The start script sets this if the output is a terminal. */
    private static final String LIVE = "flash-sale.live";

    private static final int KEPT = 0;
    private static final int BROKEN = 1;
    private static final int COULD_NOT_RUN = 2;

    private FlashSale() {}

    public static void main(String[] arguments) {
        Interruption interruption = Interruption.ofThisThread();
        int status = run(List.of(arguments), System.out, System.err);
        interruption.isNotNeeded();
        System.exit(status);
    }

    static int run(List<String> arguments, PrintStream out, PrintStream err) {
        if (arguments.contains("--help") || arguments.contains("-h")) {
            out.print(Settings.USAGE);
            return KEPT;
        }
        try {
            return run(Settings.parse(arguments), out);
        } catch (IllegalArgumentException e) {
            err.print("flash-sale: " + e.getMessage() + "\n" + Settings.USAGE);
        } catch (IllegalStateException | UncheckedIOException e) {
            err.println("flash-sale: " + e.getMessage());
        } catch (RedisCommandInterruptedException | InterruptedException e) {
            Thread.currentThread().interrupt();
            err.println("flash-sale: interrupted");
        } catch (RedisException e) {
            err.println("flash-sale: Redis failed: " + e.getMessage());
        }
        return COULD_NOT_RUN;
    }

    private static int run(Settings settings, PrintStream out) throws InterruptedException {
        if (System.getProperty(RedisServer.SWITCH) == null) {
            // The same locale on each machine; it needs no further download.
            System.setProperty(RedisServer.SWITCH, "embedded");
        }
        if (settings.redis().isPresent()) {
            return run(settings, settings.redis().get(), out);
        }
        try (RedisServer server = RedisServer.start()) {
            return run(settings, RedisURI.create(server.uri()), out);
        }
    }

    private static int run(Settings settings, RedisURI redis, PrintStream out) throws InterruptedException {
        Report report = sell(settings.withLocalHandOver(false), redis, out);
        if (!settings.localHandOver() || !report.isPromiseKept()) {
            return report.isPromiseKept() ? KEPT : BROKEN;
        }
        Report handedOver = sell(settings, redis, out);
        out.printf(
                Locale.ROOT,
                "Visits per second: %,.0f with a hand-over inside each shop, %,.0f without.%n",
                handedOver.visitsPerSecond(),
                report.visitsPerSecond());
        return handedOver.isPromiseKept() ? KEPT : BROKEN;
    }

    private static Report sell(Settings settings, RedisURI redis, PrintStream out) throws InterruptedException {
        out.printf(
                Locale.ROOT,
                "Flash sale: %,d items, %,d buyers, Redis at %s:%d, %s%n",
                settings.items(),
                settings.buyers(),
                redis.getHost(),
                redis.getPort(),
                guard(settings));
        SaleKeys keys = new SaleKeys("flash-sale:" + UUID.randomUUID());
        try (SaleStore store = new SaleStore(redis, keys);
                LockServers servers = serversOf(settings, redis);
                Coordinator coordinator =
                        new Coordinator(settings, store, keys, servers, new Progress(out, Boolean.getBoolean(LIVE)))) {
            Report report = coordinator.run(redis.toURI().toString());
            out.print("\n" + report.toTable() + "\n");
            out.println(report.isPromiseKept() ? "No item was sold twice." : verdict(report));
            return report;
        }
    }

    private static String guard(Settings settings) {
        if (!settings.withLock()) {
            return "WITHOUT a lock";
        }
        String lock = switch (settings.lock()) {
            case REDIS -> "each sale under a Holdfast lock";
            case REDLOCK -> "each sale under a Holdfast lock at five other servers";
            case ZOOKEEPER -> "each sale under a Holdfast lock in ZooKeeper";
        };
        return settings.localHandOver() ? lock + ", handed over inside each shop" : lock;
    }

    private static LockServers serversOf(Settings settings, RedisURI redis) {
        return switch (settings.lock()) {
            case REDIS -> LockServers.shared(redis.toURI().toString());
            case REDLOCK -> LockServers.fiveMasters();
            case ZOOKEEPER -> LockServers.zooKeeper();
        };
    }

    private static String verdict(Report report) {
        return report.oversold() > 0
                ? String.format(Locale.ROOT, "%,d buyers paid for items that do not exist.", report.oversold())
                : "The sale broke a promise: see the table.";
    }
}
