package io.holdfast.r2dbc;

import io.holdfast.testkit.server.ContainerDatabase;
import io.holdfast.testkit.server.LeftOut;
import io.holdfast.testkit.server.PostgresServer;
import io.holdfast.testkit.server.SqlServer;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** A server of PostgreSQL. */
final class PostgresStore extends Store {

    private static final List<String> FILLED = List.of("holdfast_lock", "holdfast_waiter", "holdfast_tombstone");

    private final SqlServer server;

    private PostgresStore(SqlServer server) {
        this.server = server;
    }

    /** Starts a server without the schema. No test crashes the machine, so the disk need not be flushed. */
    static PostgresStore empty() {
        return new PostgresStore(PostgresServer.run("fsync=off", "full_page_writes=off"));
    }

    /** Starts a server in a container. */
    static PostgresStore image(String image) {
        return new PostgresStore(ContainerDatabase.run(image, "fsync=off", "full_page_writes=off"));
    }

    static PostgresStore withSettings(String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("fsync=off", "full_page_writes=off"));
        return new PostgresStore(PostgresServer.run(all.toArray(String[]::new)));
    }

    /** Starts a replica that follows asynchronously. */
    Store replica() {
        return new PostgresStore(((PostgresServer) server).replica());
    }

    @Override
    void holdUpCommits() {
        execute("create table if not exists probe (at timestamptz)");
        execute("alter system set synchronous_standby_names = 'there_is_none'");
        execute("select pg_reload_conf()");
        eventually(() -> {
            Disposable unused = Flux.usingWhen(
                            connections().create(),
                            open -> Flux.from(open.createStatement("insert into probe values (clock_timestamp())")
                                            .execute())
                                    .concatMap(Result::getRowsUpdated),
                            Connection::close)
                    .subscribe(rows -> {}, error -> {});
            return !texts("select 1 from pg_stat_activity where wait_event = 'SyncRep'")
                    .isEmpty();
        });
    }

    /**
     * PostgreSQL 17 and 18 have a defect: the slots for the oldest multixact of prepared transactions are outside of the array that the server
     * searches. So a shared lock of such a transaction is forgotten when another one has locked the row too.
     */
    @Override
    boolean keepsLocksOfPreparedTransactions() {
        execute(
                "create table kept (n integer primary key, changes integer)",
                "insert into kept values (1, 0)",
                "begin",
                "select 1 from kept for key share",
                "prepare transaction 'kept'");
        execute("begin", "select 1 from kept for no key update", "update kept set changes = 1", "commit");
        boolean isKept = texts("select 1 from kept for update skip locked").isEmpty();
        execute("rollback prepared 'kept'", "drop table kept");
        if (!isKept) {
            LeftOut.tell(
                    "prepared transactions of PostgreSQL",
                    "this version of the server forgets their shared locks; use 13 to 16, or a later minor version");
        }
        return isKept;
    }

    @Override
    boolean canEndCommits() {
        return true;
    }

    @Override
    void resumeCommits() {
        execute("alter system reset synchronous_standby_names");
        execute("select pg_reload_conf()");
        eventually(() -> texts("select 1 from pg_stat_activity where wait_event = 'SyncRep'")
                .isEmpty());
    }

    /** Does not fill a file system: that would end the server, or make it refuse to extend a file, and only the latter is an answer. */
    @Override
    void fillDisk(boolean isWithoutAnyRoom) {
        execute("""
                create or replace function disk_is_full() returns trigger language plpgsql as $$
                begin
                  raise exception 'could not extend file "base/5/16395": No space left on device'
                    using errcode = 'disk_full', hint = 'Check free disk space.';
                end $$""");
        FILLED.forEach(
                table -> execute("create trigger disk_is_full before insert %s on %s execute function disk_is_full()"
                        .formatted(isWithoutAnyRoom ? "or update" : "", table)));
    }

    @Override
    void makeRoom() {
        FILLED.forEach(table -> execute("drop trigger if exists disk_is_full on " + table));
    }

    /** Transactions cannot write from now on, unless they ask for it, also in sessions that exist already. */
    void setReadOnly(boolean isReadOnly) {
        String value = isReadOnly ? "on" : "off";
        execute("alter system set default_transaction_read_only = " + value);
        execute("select pg_reload_conf()");
        eventually(() -> texts("show default_transaction_read_only").equals(List.of(value)));
    }

    @Override
    void addSchema() {
        execute(schema());
    }

    @Override
    SqlServer server() {
        return server;
    }

    @Override
    ConnectionFactory connections() {
        return connections(PostgresServer.USER);
    }

    @Override
    ConnectionFactory connections(String user, int port) {
        return new PostgresqlConnectionFactory(PostgresqlConnectionConfiguration.builder()
                .host(server.host())
                .port(port)
                .username(user)
                .database(PostgresServer.DATABASE)
                .build());
    }

    @Override
    ConnectionFactory connectionsBy(int port) {
        return connections(PostgresServer.USER, port);
    }

    @Override
    ConnectionFactory ownConnections() {
        return connections();
    }

    @Override
    String product() {
        return "PostgreSQL";
    }

    @Override
    Duration replyTimeout() {
        return Duration.ofMillis(700);
    }

    @Override
    String lockedRowAdvice() {
        return "pg_stat_activity";
    }

    @Override
    int clientConnections() {
        return count("select count(*) from pg_stat_activity where application_name = 'holdfast'");
    }

    @Override
    void killClientConnections() {
        execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'holdfast'");
    }

    @Override
    int listeners() {
        return count("""
                select count(distinct channel) from holdfast_waiter
                 where exists (select from pg_locks where locktype = 'advisory' and granted and mode = 'ExclusiveLock'
                                  and (classid::bigint << 32 | objid::bigint) = hashtextextended(channel, 0))""");
    }

    @Override
    boolean hasBlockedCall() {
        return count("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") > 0;
    }

    /** Each call adds what it has done. A session reports its counters to the others too late, and seldom. */
    @Override
    void countWork() {
        execute("create unlogged table if not exists work (done bigint)", """
                create or replace function work_of_session() returns numeric language sql volatile as $$
                  select sum(pg_stat_get_xact_tuples_fetched(t) + pg_stat_get_xact_tuples_returned(t) + pg_stat_get_xact_tuples_inserted(t)
                             + pg_stat_get_xact_tuples_updated(t) + pg_stat_get_xact_tuples_deleted(t))
                    from unnest(array['holdfast_lock', 'holdfast_waiter', 'holdfast_tombstone']::regclass[]) as t
                $$""");
        String functions = schema().substring(schema().indexOf("create function holdfast_call_v1"));
        String begin = "  v_durable boolean; -- null: no client is told that it holds a lock\n";
        String end = "  if v_durable is null then\n";
        execute(functions
                .substring(0, functions.indexOf("$$;") + 3)
                .replace("create function", "create or replace function")
                .replace(begin, begin + "  v_before bigint := work_of_session();\n")
                .replace(
                        end,
                        "  insert into work select cardinality(p_calls) / 11 + work_of_session() - v_before;\n" + end));
    }

    @Override
    void setAside(String name) {
        execute("update holdfast_waiter set place = 's' where name = '%s'".formatted(name));
    }

    @Override
    long work() {
        return Long.parseLong(texts("select coalesce(sum(done), 0) from work").get(0));
    }

    @Override
    void addFreeLocks(int count, Duration ago) {
        execute("""
                insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_at)
                select 'once/' || n, 'mutex', 0, extract(epoch from used) * 1000000, null, 1, used
                  from generate_series(1, %d) n, (select clock_timestamp() - interval '%d s' as used) ago""".formatted(count, ago.toSeconds()));
    }

    @Override
    void keepFreeLocks(Duration time) {
        execute("update holdfast_schema set keep = interval '%d s'".formatted(time.toSeconds()));
    }

    @Override
    void addOutdatedTraces(int count) {
        execute("insert into holdfast_tombstone select 'gone ' || n, '-infinity' from generate_series(1, %d) n"
                .formatted(count));
    }

    @Override
    void makeTracesOutdated() {
        execute("update holdfast_tombstone set until = '-infinity'");
    }

    @Override
    void makeSweepDue() {
        execute("update holdfast_schema set swept_at = '-infinity', batch_at = '-infinity'");
    }

    @Override
    int sweeps() {
        int steps = 0;
        for (; texts("select holdfast_sweep_v1()").equals(List.of("true")); steps++) {
            execute("select pg_sleep(0.1)");
        }
        return steps;
    }

    @Override
    List<String> leftovers() {
        return Stream.of(
                        "select format('%s %s held by %s', kind, name, holder) from holdfast_lock where holder is not"
                                + " null",
                        "select format('%s %s waited for by %s', kind, name, id) from holdfast_waiter")
                .flatMap(sql -> texts(sql).stream())
                .toList();
    }
}
