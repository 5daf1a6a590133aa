package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * A PostgreSQL, and a replica that follows it asynchronously. They do not flush their disks: faults kill processes, not the machine.
 *
 * <p>A promotion loses the last commits, and grants among them. So each promotion is a gap, from the last moment at which the replica follows until the
 * former primary has ended. The registers are in the same database, and all promises hold for them.
 */
final class PostgresServers implements Deployment {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SETTLES_WITHIN = Duration.ofSeconds(90);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    /** The pause between two rounds that end connections. */
    private static final Duration BETWEEN_ENDS = Duration.ofMillis(100);

    private static final String[] SETTINGS = {
        "fsync=off",
        "full_page_writes=off",
        "max_connections=120",
        "max_wal_size=128MB",
        "wal_keep_size=64MB",
        "shared_buffers=32MB",
        "wal_retrieve_retry_interval=100ms"
    };

    private final Terms terms;
    private final List<Gap> gaps = new CopyOnWriteArrayList<>();
    private final Wires wires;
    private final PostgresUsers users;
    private final List<PostgresServer> servers;

    /** Written by the thread that injects faults into servers; read by other threads. */
    private volatile PostgresServer primary;

    private PostgresServers(
            Terms terms, int clients, PostgresUsers users, PostgresServer primary, PostgresServer replica) {
        this.terms = terms;
        this.users = users;
        this.primary = primary;
        servers = List.of(primary, replica);
        wires = new Wires(clients, List.of(primary.port(), replica.port()));
    }

    static Deployment start(Terms terms, int clients, Path folder) {
        PostgresUsers users = new PostgresUsers(folder);
        PostgresServer primary = PostgresServer.run(SETTINGS);
        try {
            users.setUp().forEach(sql -> tell(primary, sql));
            tell(primary, PostgresStore.schema());
            tell(primary, PostgresRegister.SCHEMA);
            Resource.all(terms.target()).stream()
                    .filter(Resource::isExclusive)
                    .forEach(resource -> tell(primary, PostgresRegister.rows(resource)));
            PostgresServers all = new PostgresServers(terms, clients, users, primary, primary.replica());
            all.awaitStep();
            return all;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the servers started", e);
        } catch (RuntimeException e) {
            primary.close();
            throw e;
        }
    }

    private static void tell(PostgresServer server, String sql) {
        List<String> unused = ask(server, sql);
    }

    private static List<String> ask(PostgresServer server, String sql) {
        return PostgresStore.texts(PostgresAddress.direct(server.port()), sql, PATIENCE);
    }

    @Override
    public Address addressOf(int client) {
        return addressAt(wires.ports(client));
    }

    @Override
    public Address direct() {
        return addressAt(servers.stream().map(PostgresServer::port).toList());
    }

    private Address addressAt(List<Integer> ports) {
        return new Address(
                terms, ports.stream().map(port -> "127.0.0.1:" + port).toList(), users.secret());
    }

    /** Without wires: the worst writer is one that reaches its data although it cannot renew. */
    @Override
    public Optional<String> register() {
        return Optional.of(PostgresAddress.uri(direct().servers()));
    }

    @Override
    public Map<FaultKind, Strike.Fault> faults() {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(wires.faults());
        faults.putAll(new PostgresOperator(() -> primary, this::other).faults());
        faults.put(FaultKind.PASSWORD_ROTATED, strike -> users.rotate(() -> primary, strike));
        faults.put(FaultKind.CONNECTIONS_ENDED, this::endConnections);
        faults.put(FaultKind.SERVER_KILLED, strike -> restart(strike, PostgresServer::kill));
        faults.put(FaultKind.SERVER_RESTARTED, strike -> restart(strike, PostgresServer::stop));
        faults.put(FaultKind.SERVER_FROZEN, this::freeze);
        faults.put(FaultKind.REPLICA_PROMOTED, strike -> promote(PostgresServer::kill, strike));
        faults.put(FaultKind.FROZEN_PRIMARY_REPLACED, this::replaceFrozen);
        return faults;
    }

    /** Ends some of all connections, those of writers, too. While no server answers, there is nothing to end. */
    private void endConnections(Strike strike) throws InterruptedException {
        long startNanos = System.nanoTime();
        double part = (1 + strike.other(4)) / 4.0;
        do {
            try {
                List<String> unused =
                        PostgresStore.texts(PostgresAddress.direct(primary.port()), """
                        select pg_terminate_backend(pid) from pg_stat_activity
                         where backend_type = 'client backend' and pid <> pg_backend_pid() and random() < %s""".formatted(part), terms.lease());
            } catch (RuntimeException away) {
                // By another fault.
            }
            Strike.last(BETWEEN_ENDS);
        } while (System.nanoTime() - startNanos < strike.time().toNanos());
    }

    private void restart(Strike strike, Consumer<PostgresServer> end) throws InterruptedException {
        end.accept(primary);
        try {
            strike.last();
        } finally {
            primary.start();
        }
        awaitStep();
    }

    private void freeze(Strike strike) throws InterruptedException {
        PostgresServer frozen = primary;
        frozen.pause();
        try {
            strike.last();
        } finally {
            frozen.resume();
        }
        awaitStep();
    }

    /** The former primary continues after the replica has taken over, until the strike ends: meanwhile both take writes. */
    private void replaceFrozen(Strike strike) throws InterruptedException {
        promote(
                former -> {
                    former.pause();
                    tell(other(former), "select pg_promote()");
                    former.resume();
                },
                strike);
    }

    private void promote(Consumer<PostgresServer> accident, Strike strike) throws InterruptedException {
        PostgresServer former = primary;
        PostgresServer next = other(former);
        long fromNanos = System.nanoTime();
        // It misses all later commits.
        tell(next, "alter system reset primary_conninfo");
        tell(next, "select pg_reload_conf()");
        Await.until(
                "the replica has lost its primary",
                SETTLES_WITHIN,
                POLL_INTERVAL,
                () -> ask(next, "select 1 from pg_stat_wal_receiver").isEmpty());
        strike.last();
        accident.accept(former);
        if (isReplica(next)) {
            tell(next, "select pg_promote()");
        } else {
            strike.last();
            former.kill();
        }
        primary = next;
        users.enforce(() -> next);
        gaps.add(new Gap(fromNanos, System.nanoTime()));
        former.follow(next);
        awaitStep();
    }

    private static boolean isReplica(PostgresServer server) {
        return ask(server, "select pg_is_in_recovery()").equals(List.of("true"));
    }

    private PostgresServer other(PostgresServer server) {
        return server.equals(servers.get(0)) ? servers.get(1) : servers.get(0);
    }

    private void awaitStep() throws InterruptedException {
        Await.until("the replica follows", SETTLES_WITHIN, POLL_INTERVAL, this::isInStep);
    }

    private boolean isInStep() {
        try {
            return !ask(primary, "select 1 from pg_stat_replication where state = 'streaming'")
                    .isEmpty();
        } catch (RuntimeException away) {
            return false;
        }
    }

    @Override
    public List<Gap> gaps() {
        return List.copyOf(gaps);
    }

    /** Two kinds of rows may stay: that of a lock whose holder was killed, after its lease, and those that the sweep deletes a minute later. */
    @Override
    public List<String> leftovers() {
        return ask(primary, """
                select format('%s %s held by %s', kind, name, holder) from holdfast_lock
                 where holder is not null and expires_at > clock_timestamp()
                union all
                select format('%s %s waited for by %s', kind, name, id) from holdfast_waiter
                 where place = 'q' and looked_at + lease_ms * interval '0.5 ms' > clock_timestamp()""");
    }

    @Override
    public void close() {
        wires.close();
        servers.forEach(PostgresServer::close);
    }
}
