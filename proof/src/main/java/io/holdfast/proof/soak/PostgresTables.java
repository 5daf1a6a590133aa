package io.holdfast.proof.soak;

import io.holdfast.proof.hostile.PostgresAddress;
import io.holdfast.proof.hostile.PostgresStore;
import io.holdfast.testkit.server.PostgresServer;
import io.holdfast.testkit.server.TcpProxy;
import java.time.Duration;
import java.util.List;

/** One PostgreSQL. It does not flush its disks. */
final class PostgresTables implements Store {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final String[] SETTINGS = {
        "fsync=off", "full_page_writes=off", "max_connections=200", "max_wal_size=128MB", "shared_buffers=32MB"
    };

    /** Does 2 s after the last use of a lock what {@code holdfast_sweep_v1} does after a day. */
    private static final String TIDY = """
            delete from holdfast_lock
             where (name, kind, slot) in (
               select name, kind, slot from holdfast_lock l
                where name like '%s%%' and expires_at <= clock_timestamp() - interval '2 s'
                  and token < (extract(epoch from clock_timestamp() - interval '2 s') * 1000000)::bigint
                  and (slot > 0 or not exists (select from holdfast_lock s
                                                where s.name = l.name and s.kind = l.kind and s.slot > 0))
                order by name, kind, slot for update of l skip locked)""".formatted(Fresh.PREFIX);

    private static final String READ = """
            select (select count(*) from holdfast_lock) + (select count(*) from holdfast_waiter) + (select count(*) from holdfast_tombstone)
            union all select pg_total_relation_size('holdfast_lock') + pg_total_relation_size('holdfast_waiter')
                             + pg_total_relation_size('holdfast_tombstone')
            union all select count(*) - 1 from pg_stat_activity where backend_type = 'client backend'""";

    private final PostgresServer server;
    private final TcpProxy proxy;

    private PostgresTables(PostgresServer server) {
        this.server = server;
        proxy = TcpProxy.to("127.0.0.1", server.port());
    }

    static Store start() {
        PostgresServer server = PostgresServer.run(SETTINGS);
        try {
            PostgresTables store = new PostgresTables(server);
            List<String> unused = store.ask(PostgresStore.schema());
            return store;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private List<String> ask(String sql) {
        return PostgresStore.texts(PostgresAddress.direct(server.port()), sql, PATIENCE);
    }

    @Override
    public List<String> addresses() {
        return List.of("127.0.0.1:" + proxy.port());
    }

    @Override
    public void tidy() {
        List<String> unused = ask(TIDY);
    }

    @Override
    public Reading read() {
        List<String> figures = ask(READ);
        return new Reading(
                Long.parseLong(figures.get(0)), Long.parseLong(figures.get(1)), Long.parseLong(figures.get(2)));
    }

    @Override
    public void cut() {
        proxy.cut();
    }

    @Override
    public void close() {
        proxy.close();
        server.close();
    }
}
