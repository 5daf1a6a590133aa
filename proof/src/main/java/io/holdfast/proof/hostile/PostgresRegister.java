package io.holdfast.proof.hostile;

import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.r2dbc.Fence;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.IsolationLevel;
import io.r2dbc.spi.Result;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Registers in the database of the locks. The fence guards the transaction of each write. The database notes the order of grants and writes: a write
 * when its transaction commits, a grant in the transaction that grants.
 */
final class PostgresRegister implements Register {

    /** A grant changes the token in the row of the lock, and its transaction has the row lock then. */
    static final String SCHEMA = """
            create sequence register_order;
            create table register (resource text primary key, number bigint not null);
            create table register_write (writer text primary key, resource text, number bigint, token bigint, landed bigint);
            create table register_grant (resource text, token bigint, granted bigint, primary key (resource, token));
            create table register_refusal (resource text);

            create function register_landed() returns trigger language plpgsql as $$
            begin
              update register_write set landed = nextval('register_order') where writer = new.writer;
              return null;
            end $$;
            create constraint trigger register_landed after insert on register_write
              deferrable initially deferred for each row execute function register_landed();

            create function register_granted() returns trigger language plpgsql as $$
            begin
              insert into register_grant values (new.kind || ' ' || new.name, new.token, nextval('register_order'));
              return null;
            end $$;
            create trigger register_granted after update of token on holdfast_lock
              for each row when (new.slot = 0 and new.token <> old.token) execute function register_granted();
            """;

    private static final Duration READS_WITHIN = Duration.ofSeconds(20);

    private final ConnectionFactory connections;
    private final Terms terms;

    PostgresRegister(String uri, Terms terms) {
        connections = PostgresAddress.connections(PostgresAddress.servers(uri));
        this.terms = terms;
    }

    /** Tokens differ by four, so the quotient decides how a write is made. */
    @Override
    public Mono<Void> increment(Resource resource, LockLease held, String writer, Mono<Void> pause) {
        long choice = held.fencingToken() / 4;
        boolean pausesInTransaction = choice % 2 == 0;
        IsolationLevel isolation = choice % 3 == 0 ? IsolationLevel.REPEATABLE_READ : IsolationLevel.READ_COMMITTED;
        Write write = new Write(resource, held, writer, isolation, pausesInTransaction ? pause : Mono.empty());
        Mono<Void> done =
                (pausesInTransaction ? Mono.<Void>empty() : pause).then(Mono.defer(() -> inConnection(write)));
        return choice / 2 % 2 == 0 ? deaf(done) : done;
    }

    /** The write continues when its holder has lost the lock, like code that runs on another thread. */
    private static Mono<Void> deaf(Mono<Void> write) {
        return Mono.defer(() -> Mono.fromFuture(write.toFuture(), true));
    }

    /** A planned write. */
    private record Write(
            Resource resource, LockLease held, String writer, IsolationLevel isolation, Mono<Void> pause) {}

    /** Closes the connection in every case, which ends its transaction. */
    private Mono<Void> inConnection(Write write) {
        return Mono.usingWhen(
                        connections.create(),
                        open -> written(open, write)
                                .onErrorResume(LockLostException.class, refused -> refused(open, write.resource())),
                        Connection::close)
                .timeout(terms.lease().multipliedBy(4));
    }

    private Mono<Void> written(Connection open, Write write) {
        String name = name(write.resource());
        Mono<Void> fenced = terms.flaw() == Flaw.NO_FENCE ? Mono.empty() : Fence.check(open, write.held());
        Mono<Void> bounded = run(
                open,
                "set idle_in_transaction_session_timeout = %d"
                        .formatted(terms.lease().multipliedBy(2).toMillis()));
        return bounded.then(Mono.from(open.beginTransaction(write.isolation())))
                .then(fenced)
                .then(Mono.defer(() -> number(open, name)))
                .delayUntil(read -> write.pause())
                .flatMap(read -> run(open, """
                        with written as (update register set number = %d where resource = '%s')
                        insert into register_write values ('%s', '%s', %d, %d)""".formatted(
                                read + 1,
                                name,
                                write.writer(),
                                name,
                                read + 1,
                                write.held().fencingToken())))
                .then(Mono.defer(() -> Mono.from(open.commitTransaction())));
    }

    private static Mono<Long> number(Connection open, String name) {
        return Flux.from(open.createStatement("select number from register where resource = '%s'".formatted(name))
                        .execute())
                .concatMap(result -> result.map(row -> row.get(0, Long.class)))
                .single();
    }

    private static Mono<Void> refused(Connection open, Resource resource) {
        return Mono.from(open.rollbackTransaction())
                .then(run(open, "insert into register_refusal values ('%s')".formatted(name(resource))));
    }

    private static Mono<Void> run(Connection open, String sql) {
        return Flux.from(open.createStatement(sql).execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }

    /** Returns the name of the lock in the database. */
    private static String name(Resource resource) {
        String kind = resource.key().kind() == LockKind.MUTEX ? "mutex" : "rw";
        return kind + " " + resource.key().name();
    }

    static String rows(Resource resource) {
        return "insert into register values ('%s', 0)".formatted(name(resource));
    }

    @Override
    public List<Register.Write> writes(Resource resource) {
        return texts(
                        "select token || ' ' || number || ' ' || writer from register_write where resource = '%s' order by landed"
                                .formatted(name(resource)))
                .stream()
                .map(Register.Write::parse)
                .toList();
    }

    @Override
    public long refused(Resource resource) {
        return Long.parseLong(
                texts("select count(*) from register_refusal where resource = '%s'".formatted(name(resource)))
                        .get(0));
    }

    @Override
    public List<String> late(Resource resource) {
        return texts("""
                select format('the write of %%s with token %%s to %%s was committed after the grant of token %%s',
                              w.writer, w.token, w.resource, g.token)
                  from register_write w join register_grant g on g.resource = w.resource and g.token > w.token and g.granted < w.landed
                 where w.resource = '%s'""".formatted(name(resource)));
    }

    private List<String> texts(String sql) {
        return PostgresStore.texts(connections, sql, READS_WITHIN);
    }

    @Override
    public void close() {
        // Each write had a connection of its own.
    }
}
