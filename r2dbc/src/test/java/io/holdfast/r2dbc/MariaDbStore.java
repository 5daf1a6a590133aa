package io.holdfast.r2dbc;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.asyncer.r2dbc.mysql.MySqlConnectionConfiguration;
import io.asyncer.r2dbc.mysql.MySqlConnectionFactory;
import io.asyncer.r2dbc.mysql.constant.SslMode;
import io.holdfast.testkit.server.ContainerDatabase;
import io.holdfast.testkit.server.LeftOut;
import io.holdfast.testkit.server.MariaDbServer;
import io.holdfast.testkit.server.SqlServer;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.mariadb.r2dbc.MariadbConnectionConfiguration;
import org.mariadb.r2dbc.MariadbConnectionFactory;

/** A server of MariaDB or MySQL, with the driver of each. */
final class MariaDbStore extends Store {

    /** The user of lock clients and applications. It separates their connections from those of the tests. */
    private static final String APPLICATION = "shop";

    /** No test crashes the machine, so the disk need not be flushed. Committed data must survive the end of the process. */
    private static final List<String> FAST =
            List.of("innodb_flush_log_at_trx_commit=2", "sync_binlog=0", "innodb_buffer_pool_size=64M");

    /** Settings of a server that can be made to wait for replicas. */
    static final String[] SYNCHRONOUS = {"log-bin=bin", "server-id=1"};

    private static final String SEEN =
            "select count(distinct w.channel) from holdfast_waiter w join holdfast_client c on c.channel = w.channel"
                    + " where c.seen_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - 3000000";

    private static final List<String> FILLED =
            List.of("holdfast_lock", "holdfast_fence", "holdfast_waiter", "holdfast_tombstone");

    private final SqlServer server;
    private final boolean isMySql;

    private MariaDbStore(SqlServer server, boolean isMySql) {
        this.server = server;
        this.isMySql = isMySql;
        execute("create user " + APPLICATION);
        execute("grant all on *.* to " + APPLICATION);
    }

    static Store mariaDb(String... settings) {
        return new MariaDbStore(MariaDbServer.run(with(settings)), false);
    }

    /** Starts a server that flushes its disk, as in production. */
    static Store durableMariaDb() {
        return new MariaDbStore(MariaDbServer.run(), false);
    }

    /** Starts MySQL, or skips the tests if there is none. */
    static Store mySql(String... settings) {
        Optional<MariaDbServer> server = MariaDbServer.runMySql(with(settings));
        if (server.isEmpty()) {
            LeftOut.tell(
                    "MySQL", "there is no mysqld on the PATH; put one there, or name it by -D" + MariaDbServer.MYSQL);
        }
        assumeTrue(server.isPresent(), "there is no MySQL here");
        return new MariaDbStore(server.orElseThrow(), true);
    }

    /** Starts a server in a container. */
    static Store image(String image) {
        return new MariaDbStore(ContainerDatabase.run(image, with()), image.contains("mysql"));
    }

    private static String[] with(String... settings) {
        return Stream.concat(FAST.stream(), Stream.of(settings)).toArray(String[]::new);
    }

    @Override
    void addSchema() {
        statements(schema("mariadb")).forEach(this::execute);
    }

    /** Splits the file like the client programs: at the delimiter that it names. */
    static List<String> statements(String file) {
        List<String> statements = new ArrayList<>();
        StringBuilder open = new StringBuilder();
        String delimiter = ";";
        for (String line : file.split("\n", -1)) {
            if (line.startsWith("delimiter ")) {
                delimiter = line.substring("delimiter ".length());
            } else if (line.endsWith(delimiter)) {
                statements.add(open + line.substring(0, line.length() - delimiter.length()));
                open.setLength(0);
            } else {
                open.append(line).append('\n');
            }
        }
        return statements;
    }

    @Override
    SqlServer server() {
        return server;
    }

    @Override
    ConnectionFactory connections() {
        return connections(APPLICATION);
    }

    @Override
    ConnectionFactory connectionsBy(int port) {
        return connections(APPLICATION, port);
    }

    @Override
    ConnectionFactory ownConnections() {
        return connections(MariaDbServer.USER);
    }

    @Override
    ConnectionFactory connections(String user, int port) {
        return isMySql
                ? MySqlConnectionFactory.from(MySqlConnectionConfiguration.builder()
                        .host(server.host())
                        .port(port)
                        .user(user)
                        .database(MariaDbServer.DATABASE)
                        .sslMode(SslMode.DISABLED)
                        .build())
                : MariadbConnectionFactory.from(MariadbConnectionConfiguration.builder()
                        .host(server.host())
                        .port(port)
                        .username(user)
                        .database(MariaDbServer.DATABASE)
                        .build());
    }

    @Override
    String product() {
        return isMySql ? "MySQL" : "MariaDB";
    }

    /** The time limits of the server are three quarters of this, in whole seconds. */
    @Override
    Duration replyTimeout() {
        return Duration.ofMillis(1_400);
    }

    @Override
    String lockedRowAdvice() {
        return "innodb_trx";
    }

    @Override
    void fillDisk(boolean isWithoutAnyRoom) {
        for (String table : FILLED) {
            for (String verb : isWithoutAnyRoom ? List.of("insert", "update") : List.of("insert")) {
                execute(
                        "create trigger full_%s_%s before %s on %s for each row signal sqlstate 'HY000' set mysql_errno = 1114, message_text = 'The table is full'"
                                .formatted(verb, table, verb, table));
            }
        }
    }

    @Override
    void makeRoom() {
        for (String table : FILLED) {
            execute("drop trigger if exists full_insert_" + table);
            execute("drop trigger if exists full_update_" + table);
        }
    }

    /** Such a commit is in the log, and its rows are locked: the server waits for a replica before it makes them visible. */
    @Override
    void holdUpCommits() {
        if (isMySql) {
            execute("install plugin rpl_semi_sync_source soname 'semisync_source.so'");
        }
        execute("set global %s_timeout = 3600000".formatted(semiSync()));
        execute("set global %s_wait_point = 'AFTER_SYNC'".formatted(semiSync()));
        execute("set global %s_enabled = 1".formatted(semiSync()));
    }

    @Override
    void resumeCommits() {
        if (isMySql
                && count("select count(*) from information_schema.plugins where plugin_name = 'rpl_semi_sync_source'")
                        > 0) {
            execute("set global %s_enabled = 0".formatted(semiSync()));
            execute("uninstall plugin rpl_semi_sync_source");
        } else if (!isMySql) {
            execute("set global %s_enabled = 0".formatted(semiSync()));
        }
    }

    @Override
    boolean keepsLocksOfPreparedTransactions() {
        return true;
    }

    /** MySQL goes on waiting for the replica in a killed session. */
    @Override
    boolean canEndCommits() {
        return !isMySql;
    }

    private String semiSync() {
        return isMySql ? "rpl_semi_sync_source" : "rpl_semi_sync_master";
    }

    private List<String> clients() {
        return texts("select id from information_schema.processlist where user = '" + APPLICATION + "'");
    }

    @Override
    int clientConnections() {
        return clients().size();
    }

    @Override
    void killClientConnections() {
        clients().forEach(id -> execute("kill " + id));
    }

    @Override
    int listeners() {
        return count(SEEN);
    }

    @Override
    boolean hasBlockedCall() {
        return count("select variable_value from %s.global_status where variable_name = 'innodb_row_lock_current_waits'"
                        .formatted(isMySql ? "performance_schema" : "information_schema"))
                > 0;
    }

    @Override
    void countWork() {
        if (!isMySql) {
            // The server counts for all calls together, so a sweep would count as work of the call beside it.
            execute("set global userstat = 1", "update holdfast_schema set swept_us = " + Long.MAX_VALUE);
        }
    }

    @Override
    void setAside(String name) {
        execute("update holdfast_waiter set place = concat('aside ', channel) where name = '%s'".formatted(name));
    }

    @Override
    long work() {
        return isMySql
                ? -1
                : Long.parseLong(texts(
                                "select coalesce(sum(rows_read + rows_changed), 0) from information_schema.table_statistics"
                                        + " where table_name in ('holdfast_lock', 'holdfast_fence', 'holdfast_waiter', 'holdfast_tombstone')")
                        .get(0));
    }

    @Override
    void addFreeLocks(int count, Duration ago) {
        execute("""
                insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_us)
                with recursive n (n) as (select 1 union all select n + 1 from n where n < 1000)
                select concat('once/', a.n * 1000 + b.n), 'mutex', 0, used, null, 1, used
                  from n a join n b join (select timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - %d as used) ago
                 where a.n <= %d""".formatted(ago.toNanos() / 1_000, count / 1_000));
        execute(
                "insert into holdfast_fence (name, slot, token) select name, 0, 0 from holdfast_lock where name like 'once/%'");
    }

    @Override
    void keepFreeLocks(Duration time) {
        execute("update holdfast_schema set keep_s = " + time.toSeconds());
    }

    @Override
    void addOutdatedTraces(int count) {
        execute("""
                insert into holdfast_tombstone (id, until_us)
                with recursive n (n) as (select 1 union all select n + 1 from n where n < 1000)
                select concat('gone ', a.n * 1000 + b.n), 0 from n a join n b where a.n <= %d""".formatted(count / 1_000));
    }

    @Override
    void makeTracesOutdated() {
        execute("update holdfast_tombstone set until_us = 0");
    }

    @Override
    void makeSweepDue() {
        execute("update holdfast_schema set swept_us = 0, batch_us = 0");
    }

    @Override
    int sweeps() {
        int steps = 0;
        for (; texts("call holdfast_sweep_v1()").equals(List.of("1")); steps++) {
            execute("do sleep(0.1)");
        }
        return steps;
    }

    @Override
    List<String> leftovers() {
        return Stream.of(
                        "select concat(kind, ' ', convert(name using utf8mb4) collate utf8mb4_bin, ' held by ', holder) from holdfast_lock where holder is not null",
                        "select concat(kind, ' ', convert(name using utf8mb4) collate utf8mb4_bin, ' waited for by ', id) from holdfast_waiter")
                .flatMap(sql -> texts(sql).stream())
                .toList();
    }
}
