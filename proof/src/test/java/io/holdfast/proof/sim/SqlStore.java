package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.r2dbc.R2dbcLockBackend;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One simulated PostgreSQL, and the real back end in each process. Some holders write data in fenced transactions, which may begin and end long after
 * their leases.
 */
final class SqlStore implements Store {

    private final Network network;
    private final Mutant mutant;
    private final Plan plan;
    private final SqlServer server;
    private final Duration replyTimeout;
    private final SplittableRandom chances;

    SqlStore(World world, Network network, Mutant mutant, Plan plan) {
        this.network = network;
        this.mutant = mutant;
        this.plan = plan;
        chances = world.chancesOf("sql", 0);
        boolean isCalm = plan.is(Plan.Weather.CALM);
        long lease = plan.lease().toMillis();
        replyTimeout = Duration.ofMillis(isCalm || chances.nextBoolean() ? 2_000 : Math.max(100, lease / 3));
        server = new SqlServer(
                world,
                network,
                Clocks.rate(world),
                Clocks.ahead(world),
                !isCalm,
                plan.lease().toNanos(),
                mutant.sql());
    }

    /** Clones would be opened with one channel name; the guarantees exclude none, but the model does not tell them apart. */
    @Override
    public boolean mayHaveClones() {
        return false;
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        SqlDriver driver = new SqlDriver(host, network, server, mutant.sql());
        LockBackend backend = R2dbcLockBackend.builder(driver)
                .claimTime(plan.claimTime())
                .replyTimeout(replyTimeout)
                .timer(host)
                .build();
        return mutant.backend().apply(host, mutant.member().apply(host, writing(driver, backend)));
    }

    /** Writes data under some of the leases. */
    private LockBackend writing(SqlDriver driver, LockBackend backend) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return backend.tryAcquire(claim).doOnNext(answer -> {
                    if (answer instanceof LockAttempt.Acquired acquired) {
                        write(driver, claim, acquired.fencingToken());
                    }
                });
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return backend.watch(claim).doOnNext(signal -> {
                    if (signal instanceof WatchSignal.Granted granted) {
                        write(driver, claim, granted.fencingToken());
                    }
                });
            }
        };
    }

    private void write(SqlDriver driver, LockClaim claim, long token) {
        LockKind kind = claim.key().kind();
        if ((kind != LockKind.MUTEX && kind != LockKind.WRITE) || chances.nextInt(3) > 0) {
            return;
        }
        long lease = plan.lease().toNanos();
        Duration before = Duration.ofNanos(chances.nextLong(lease));
        Duration during = Duration.ofNanos(chances.nextLong(lease / 2));
        Disposable unused = Mono.delay(before, driver.host())
                .then(driver.create())
                .flatMap(open -> done(open.createStatement("select holdfast_fence_v1($1, $2)")
                                .bind("$1", claim.key().name())
                                .bind("$2", token))
                        .then(Mono.delay(during, driver.host()))
                        .then(done(open.createStatement("commit")))
                        .onErrorComplete()
                        .then(Mono.from(open.close())))
                .subscribe(nothing -> {}, error -> {});
    }

    private static Mono<Void> done(Statement statement) {
        return Flux.<Result>from(statement.execute())
                .concatMap(Result::getRowsUpdated)
                .then();
    }

    @Override
    public List<? extends Server> servers() {
        return List.of(server);
    }

    /** Opening a connection may take up to ten seconds after others that were not answered in time. */
    @Override
    public long recoveryNanos(Plan anyPlan) {
        return World.ms(15_000);
    }

    @Override
    public List<String> leftovers() {
        return server.leftovers();
    }
}
