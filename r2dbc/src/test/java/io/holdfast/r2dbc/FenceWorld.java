package io.holdfast.r2dbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockKind;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Waiting;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One lock, and random steps: grants, renewals, releases, downgrades, ends of leases, and up to three transactions that check a lease, current or
 * ended, and write. They use each isolation level, savepoints, and two phases of a commit. The steps run one after another, so the world knows the order of
 * commits and grants.
 */
final class FenceWorld {

    /** Counts of several worlds. */
    static final class Seen {
        int grants;
        int commits;
        int prepared;
        int refusals;

        @Override
        public String toString() {
            return "%d grants, %d commits, %d of them prepared, %d refusals"
                    .formatted(grants, commits, prepared, refusals);
        }
    }

    /** What worlds share. */
    static final class Servers implements AutoCloseable {
        private final Store store;
        private final R2dbcLockBackend backend;
        private final Connection control;
        private final boolean isPostgres;
        private final boolean hasTwoPhases;
        private final String fence;

        Servers(Store store, String fence) {
            this.store = store;
            this.fence = fence;
            backend = R2dbcLockBackend.builder(store.connections())
                    .replyTimeout(store.replyTimeout())
                    .build();
            control = store.connect();
            isPostgres = store instanceof PostgresStore;
            hasTwoPhases = store.keepsLocksOfPreparedTransactions();
        }

        int count(String sql) {
            return Flux.from(control.createStatement(sql).execute())
                    .concatMap(result -> result.map(row -> row.get(0, Integer.class)))
                    .blockLast(Store.PATIENCE);
        }

        @Override
        public void close() {
            run(control.close());
            Store.end(backend);
        }
    }

    private record Grant(LockClaim claim, long token, boolean isExclusive) {}

    private static final int STEPS = 45;

    static final Duration SHORT = Duration.ofMillis(50);

    static final Duration LONG = Duration.ofSeconds(20);

    private final Servers servers;
    private final Random random;
    private final Seen seen;
    private final String name;
    private final boolean isReadWrite;
    private final List<Grant> grants = new ArrayList<>();
    private final Map<Grant, Integer> committedBefore = new LinkedHashMap<>();
    private final List<Long> downgraded = new ArrayList<>();
    private final List<Transaction> open = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();

    static void prepare(Store store) {
        store.execute(
                "create table writes (name varchar(100) not null, token bigint not null, is_exclusive integer not null)",
                "create table probe (n integer)");
    }

    FenceWorld(Servers servers, int seed, Seen seen) {
        this(servers, new Random(seed), seen, FenceWorld::randomSteps);
    }

    /** Creates a world with these steps. */
    FenceWorld(Servers servers, Consumer<FenceWorld> steps) {
        this(servers, new Random(0), new Seen(), steps);
    }

    private FenceWorld(Servers servers, Random random, Seen seen, Consumer<FenceWorld> course) {
        this.servers = servers;
        this.seen = seen;
        this.random = random;
        name = "world/" + UUID.randomUUID();
        isReadWrite = random.nextBoolean();
        course.accept(this);
        while (!open.isEmpty()) {
            List.copyOf(open).forEach(Transaction::advance);
        }
        committedBefore.forEach((grant, before) -> {
            int now = committedBelow(grant);
            if (now != before) {
                violations.add("%d writes of former owners were committed after the grant %d"
                        .formatted(now - before, grant.token()));
            }
        });
        grants.forEach(grant -> run(servers.backend.release(grant.claim().withAttempt(9))));
    }

    List<String> violations() {
        return violations;
    }

    @Override
    public String toString() {
        return String.join("; ", steps);
    }

    private void randomSteps() {
        for (int i = 0; i < STEPS; i++) {
            step();
        }
    }

    private void step() {
        int choice = random.nextInt(100);
        if (choice < 20) {
            grant();
        } else if (choice < 25 && !grants.isEmpty()) {
            lastOrAny(grant -> {
                note("renew " + grant.token());
                return servers.backend.renew(grant.claim());
            });
        } else if (choice < 33 && !grants.isEmpty()) {
            lastOrAny(this::released);
        } else if (choice < 38 && isReadWrite && !grants.isEmpty()) {
            downgrade(grants.get(grants.size() - 1));
        } else if (choice < 41) {
            awaitTheEndOfShortLeases();
        } else if (choice < 60 && open.size() < 3 && !grants.isEmpty()) {
            Grant last = grants.get(grants.size() - 1);
            begin(random.nextInt(3) > 0 ? last : grants.get(random.nextInt(grants.size())));
        } else if (!open.isEmpty()) {
            open.get(random.nextInt(open.size())).advance();
        }
    }

    private void lastOrAny(java.util.function.Function<Grant, Publisher<?>> work) {
        Grant grant = random.nextInt(3) > 0 ? grants.get(grants.size() - 1) : grants.get(random.nextInt(grants.size()));
        run(Mono.from(work.apply(grant)).onErrorComplete());
    }

    private void grant() {
        LockKind kind = !isReadWrite ? LockKind.MUTEX : random.nextInt(3) == 0 ? LockKind.WRITE : LockKind.READ;
        if (isReadWrite && grants.isEmpty()) {
            kind = LockKind.WRITE;
        }
        grant(kind, random.nextInt(3) == 0 ? SHORT : LONG);
    }

    void grant(LockKind kind, Duration lease) {
        LockClaim claim =
                LockClaim.first(LockKey.of(kind, name), UUID.randomUUID().toString(), lease, Waiting.NONE);
        if (attempt(claim) instanceof LockAttempt.Acquired acquired) {
            Grant grant = new Grant(claim, acquired.fencingToken(), kind != LockKind.READ);
            note("%s got %d for %s".formatted(kind, grant.token(), lease));
            grants.add(grant);
            committedBefore.put(grant, committedBelow(grant));
            seen.grants++;
        } else {
            var unused = run(servers.backend.release(claim).onErrorComplete());
        }
    }

    void awaitTheEndOfShortLeases() {
        note("wait");
        run(Mono.delay(SHORT.plusMillis(10)));
    }

    private Mono<?> released(Grant grant) {
        note("release " + grant.token());
        return servers.backend.release(grant.claim().withAttempt(9));
    }

    void releaseLast() {
        run(released(last()));
    }

    void downgradeLast() {
        downgrade(last());
    }

    private Grant last() {
        return grants.get(grants.size() - 1);
    }

    private void begin(Grant grant) {
        boolean isPrepared = servers.hasTwoPhases && random.nextInt(3) == 0;
        int level = random.nextInt(servers.isPostgres ? 3 : 30);
        String isolation = level == 0 ? "SERIALIZABLE" : level % 2 == 0 ? "READ COMMITTED" : "REPEATABLE READ";
        int savepoints = random.nextInt(6);
        boolean isUndone = savepoints == 0 && (servers.isPostgres || !isPrepared);
        List<String> steps = new ArrayList<>();
        // In MariaDB and MySQL, a savepoint before all other work cannot be refused: the pages forbid it.
        if (random.nextInt(3) == 0 || (isUndone && !servers.isPostgres)) {
            steps.add("select count(*) from probe");
        }
        if (isUndone) {
            steps.addAll(List.of("savepoint s", "check", "rollback to savepoint s"));
        } else if (savepoints == 1) {
            steps.addAll(List.of("savepoint s", "write", "release savepoint s", "check"));
        } else if (savepoints == 2) {
            steps.addAll(List.of("check", "savepoint s", "write", "rollback to savepoint s"));
        } else {
            steps.add("check");
        }
        open.add(new Transaction(grant, isolation, isPrepared, random.nextBoolean(), steps));
    }

    /** Begins a transaction of the last grant. Its check asks the client first if it can. It does the first steps up to its commit. */
    void fenced(boolean isPrepared, boolean asksTheClient, String... steps) {
        Transaction one = new Transaction(last(), "READ COMMITTED", isPrepared, asksTheClient, List.of(steps));
        open.add(one);
        while (open.contains(one) && one.left.size() > 1) {
            one.advance();
        }
    }

    /** The former writer keeps its token. From here on, its checks are those of a writer whose lease has ended. */
    private void downgrade(Grant grant) {
        if (!grant.isExclusive() || downgraded.contains(grant.token())) {
            return;
        }
        LockClaim claim = grant.claim();
        LockClaim reader = LockClaim.first(LockKey.of(LockKind.READ, name), claim.id(), claim.lease(), Waiting.NONE)
                .withAttempt(2);
        if (attempt(reader) instanceof LockAttempt.Acquired acquired && acquired.fencingToken() == grant.token()) {
            note("downgrade " + grant.token());
            downgraded.add(grant.token());
        }
    }

    private @Nullable LockAttempt attempt(LockClaim claim) {
        return run(servers.backend.tryAcquire(claim).onErrorComplete());
    }

    /** Counts the writes that must not become more after this grant: those of former owners that it excludes. */
    private int committedBelow(Grant grant) {
        return servers.count("select count(*) from writes where name = '%s' and token < %d%s"
                .formatted(name, grant.token(), grant.isExclusive() ? "" : " and is_exclusive = 1"));
    }

    private boolean isValid(Grant grant) {
        String expiry = servers.isPostgres
                ? "expires_at > clock_timestamp()"
                : "expires_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))";
        return !downgraded.contains(grant.token())
                && servers.count(
                                "select count(*) from holdfast_lock where name = '%s' and token = %d and holder is not null and %s"
                                        .formatted(name, grant.token(), expiry))
                        > 0;
    }

    private void note(String step) {
        steps.add(step);
    }

    /** A transaction that checks a lease, and writes. */
    private final class Transaction {

        private final Grant grant;
        private final Connection connection = servers.store.connect();
        private final String isolation;
        private final boolean isPrepared;
        private final boolean asksTheClient;
        private final String id = UUID.randomUUID().toString();
        private final List<String> left = new ArrayList<>();
        private boolean hasSnapshot;
        private boolean hasPassed;
        private boolean locksExclusively;

        Transaction(Grant grant, String isolation, boolean isPrepared, boolean asksTheClient, List<String> steps) {
            this.grant = grant;
            this.isolation = isolation;
            this.isPrepared = isPrepared;
            this.asksTheClient = asksTheClient;
            left.addAll(steps);
            left.add("write");
            if (isPrepared && servers.isPostgres) {
                left.addAll(List.of("prepare transaction '" + id + "'", "commit prepared '" + id + "'"));
            } else if (isPrepared) {
                left.addAll(List.of("xa end '" + id + "'", "xa prepare '" + id + "'", "xa commit '" + id + "'"));
            } else {
                left.add("commit");
            }
            note("begin for %d at %s: %s".formatted(grant.token(), isolation, left));
            execute(servers.isPostgres ? "set lock_timeout = '3s'" : "set innodb_lock_wait_timeout = 3");
            execute((servers.isPostgres ? "set session characteristics as" : "set session")
                    + " transaction isolation level " + isolation);
            execute(isPrepared && !servers.isPostgres ? "xa start '" + id + "'" : "begin");
        }

        void advance() {
            String step = left.get(0);
            if (step.equals("check") && mustWait()) {
                return;
            }
            left.remove(0);
            note("for %d: %s".formatted(grant.token(), step));
            try {
                if (step.equals("check")) {
                    check();
                } else if (step.equals("write")) {
                    execute("insert into writes values ('%s', %d, %d)"
                            .formatted(name, grant.token(), grant.isExclusive() ? 1 : 0));
                } else {
                    execute(step);
                }
                hasSnapshot |= !step.startsWith("savepoint");
            } catch (R2dbcException error) {
                note("refused: " + error.getMessage());
                seen.refusals++;
                end();
                return;
            }
            if (left.isEmpty()) {
                seen.commits++;
                seen.prepared += isPrepared ? 1 : 0;
                end();
            }
        }

        /** In MariaDB and MySQL, transactions of one lease may wait for each other, and the steps run one after another. */
        private boolean mustWait() {
            return !servers.isPostgres
                    && open.stream()
                            .anyMatch(other -> other.hasPassed
                                    && other.grant.equals(grant)
                                    && (other.locksExclusively || isPrepared));
        }

        private void check() {
            boolean isValid = isValid(grant);
            // As Fence.check does, only a lease that the client believes to be valid is called checked.
            boolean isChecked = !isPrepared && asksTheClient && !downgraded.contains(grant.token());
            locksExclusively = !isChecked;
            if (locksExclusively && !servers.isPostgres && open.stream().anyMatch(other -> other.hasPassed)) {
                isChecked = !isPrepared && !downgraded.contains(grant.token());
            }
            execute((servers.isPostgres ? "select %s('%s', %d, %s)" : "call %s('%s', %d, %s)")
                    .formatted(servers.fence, name, grant.token(), isChecked));
            hasPassed = true;
            if (!isValid && (isolation.equals("READ COMMITTED") || !hasSnapshot)) {
                violations.add("the fence passed the lease %d, which had ended".formatted(grant.token()));
            }
        }

        private void end() {
            open.remove(this);
            run(connection.close());
        }

        private void execute(String sql) {
            run(FenceIT.statement(connection, sql));
        }
    }

    @CanIgnoreReturnValue
    private static <T> @Nullable T run(Publisher<? extends T> work) {
        return Mono.<T>from(work).block(Store.PATIENCE);
    }
}
