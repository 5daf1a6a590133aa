package io.holdfast.benchmarks.watch;

import io.holdfast.benchmarks.load.Count;
import io.holdfast.benchmarks.load.Lanes;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.Peer;
import io.holdfast.benchmarks.peer.Postgres;
import io.holdfast.benchmarks.peer.PostgresPeer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/** Measures the cost of an uncontended cycle at a PostgreSQL, besides CPU: log, flushes of the disk, and dead row versions. */
final class DatabaseCosts {

    private static final int WARM_UP = 500;
    private static final int CYCLES = 3_000;

    private static final long POLL_MILLIS = 20;
    private static final int MOST_LOOKS = 1_000;

    private static final String OTHER_CLIENTS =
            "select count(*)::text from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";

    /** The queries for these counts on PostgreSQL 18. */
    private static final Map<String, String> COUNTS = new LinkedHashMap<>();

    static {
        COUNTS.put("WAL bytes/cycle", "select wal_bytes::text from pg_stat_wal");
        COUNTS.put("flushes/cycle", "select sum(fsyncs)::text from pg_stat_io where object = 'wal'");
        COUNTS.put("dead row versions/cycle", "select sum(n_tup_upd + n_tup_del)::text from pg_stat_user_tables");
        COUNTS.put("of these in their page (HOT)/cycle", "select sum(n_tup_hot_upd)::text from pg_stat_user_tables");
        COUNTS.put("commits/cycle", "select xact_commit::text from pg_stat_database where datname = 'postgres'");
    }

    private DatabaseCosts() {}

    static Observation watch(Addresses addresses, PostgresPeer choice, int inFlight) {
        Postgres server = addresses.postgres();
        long unused = cycles(choice, addresses, inFlight, WARM_UP);
        Map<String, Double> before = counts(server);
        long cycles = cycles(choice, addresses, inFlight, CYCLES);
        Map<String, Double> values = new TreeMap<>();
        counts(server).forEach((name, count) -> values.put(name, (count - before.getOrDefault(name, 0.0)) / cycles));
        return new Observation(
                "DatabaseCosts", Map.of("peer", choice.name(), "inFlight", Integer.toString(inFlight)), values);
    }

    private static long cycles(PostgresPeer choice, Addresses addresses, int inFlight, int atLeast) {
        long cycles;
        try (Peer peer = choice.open(addresses)) {
            cycles = cycles(peer, inFlight, atLeast);
        }
        awaitNoClient(addresses.postgres());
        return cycles;
    }

    /** Waits for the end of server processes: they report their counts when they end, and seldom before. */
    private static void awaitNoClient(Postgres server) {
        for (int i = 0; i < MOST_LOOKS; i++) {
            if (server.text(OTHER_CLIENTS).equals("0")) {
                return;
            }
            Pause.millis(POLL_MILLIS);
        }
        throw new IllegalStateException("the peer has left connections behind");
    }

    /** Runs at least this many cycles, each lane with a lock of its own. */
    private static long cycles(Peer peer, int inFlight, int atLeast) {
        Count count = Count.here();
        List<String> names =
                IntStream.range(0, inFlight).mapToObj(i -> "costs-" + i).toList();
        try (Lanes lanes = Lanes.start(peer, names, count, Mono.empty())) {
            while (count.value() < atLeast) {
                Throwable failure = lanes.failure();
                if (failure != null) {
                    throw new IllegalStateException("a lane has failed", failure);
                }
                Pause.millis(1);
            }
        }
        return count.value();
    }

    private static Map<String, Double> counts(Postgres server) {
        Map<String, Double> counts = new TreeMap<>();
        COUNTS.forEach((name, sql) -> counts.put(name, Double.valueOf(server.text(sql))));
        return counts;
    }
}
