package io.holdfast.proof.sim;

import io.holdfast.proof.sim.SqlFunctions.Deed;
import io.holdfast.proof.sim.SqlRows.Waits;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL: sessions, each with one statement at a time; transactions, whose changes nobody sees before they are on the disk; advisory locks and
 * notifications. A session whose client has gone ends after its present statement. A crash undoes what was not on the disk.
 */
final class SqlServer extends Server {

    /** Rows, or an error. */
    record Reply(List<Object[]> rows, @Nullable R2dbcException error) {}

    /** The server's end of a connection. */
    static final class Session {
        private final Wire wire;
        private final Consumer<String[]> notified;
        private long lockMillis = 10_000;
        private @Nullable Statement running;
        private @Nullable SqlTransaction fenced;
        private @Nullable Runnable commits;
        private final String name;
        private boolean isGone;
        private boolean isEnded;

        private Session(Wire wire, String name, Consumer<String[]> notified) {
            this.wire = wire;
            this.name = name;
            this.notified = notified;
        }
    }

    private final Network network;
    private final WrongSql wrong;
    private final boolean mayBeFull;
    private final long idleNanos;
    private final Map<Wire, Session> sessions = new LinkedHashMap<>();
    private final Map<String, Session> advisory = new HashMap<>();
    private final Map<String, Session> listening = new HashMap<>();
    private final Map<SqlTransaction, Boolean> open = new LinkedHashMap<>();
    private final TreeMap<Long, Runnable> unflushed = new TreeMap<>();
    private final Map<String, Long> releasedAt = new HashMap<>();
    private final SqlFunctions functions;
    private long commits;
    private int lives;
    private int opened;

    /**
     * Makes a server with empty tables.
     *
     * @param mayBeFull whether the queue of notifications is full now and then
     * @param idleNanos the time after which an open transaction without a statement is rolled back
     */
    SqlServer(
            World world,
            Network network,
            double rate,
            long aheadMicros,
            boolean mayBeFull,
            long idleNanos,
            WrongSql wrong) {
        super(world, "postgresql", rate, aheadMicros);
        this.network = network;
        this.mayBeFull = mayBeFull;
        this.idleNanos = idleNanos;
        this.wrong = wrong;
        functions = new SqlFunctions(this::micros, advisory::containsKey, wrong);
    }

    Session open(Wire wire, Consumer<String[]> notified) {
        Session session = new Session(wire, "session " + ++opened, notified);
        sessions.put(wire, session);
        return session;
    }

    /** Runs a statement of the back end, or of a fenced transaction. */
    void execute(Session session, String sql, Map<String, Object> binds, Consumer<Reply> answer) {
        if (session.isGone || !wires().contains(session.wire)) {
            return;
        } else if (session.running != null) {
            throw new IllegalStateException("two statements at a time: " + sql);
        }
        Statement statement = new Statement(session, sql, answer);
        session.running = statement;
        if (sql.contains("server_encoding")) {
            session.lockMillis = Long.parseLong((String) binds.get("$3"));
            statement.answer(row("UTF8", session.name));
        } else if (sql.contains("pg_terminate_backend")) {
            List.copyOf(sessions.values()).stream()
                    .filter(it -> it.name.equals(binds.get("$1")))
                    .forEach(this::terminate);
            statement.answer(row(true));
        } else if (sql.contains("pg_advisory_lock")) {
            advisory.put((String) binds.get("$1"), session);
            statement.answer(row(true));
        } else if (sql.startsWith("listen")) {
            listening.put(sql.split("\"", -1)[1], session);
            statement.answer(List.of());
        } else if (sql.contains("holdfast_commit_v1")) {
            call(statement, binds);
        } else if (sql.contains("holdfast_renew_v1")) {
            renew(statement, binds);
        } else if (sql.contains("holdfast_sweep_v1")) {
            statement.then(() -> statement.rows.add(new Object[] {false}));
            statement.run(statement::answer);
        } else if (sql.contains("holdfast_fence_v1")) {
            fence(statement, (String) binds.get("$1"), (Long) binds.get("$2"));
        } else if (sql.equals("commit")) {
            session.commits.run();
        } else {
            throw new IllegalStateException("unknown statement " + sql);
        }
    }

    private static List<Object[]> row(Object... cells) {
        List<Object[]> rows = new ArrayList<>();
        rows.add(cells);
        return rows;
    }

    /** One statement, in steps. A step that must wait for a row runs again later. */
    private final class Statement {

        private final Session session;
        private final String sql;
        private final Consumer<Reply> to;
        private final SqlTransaction transaction = new SqlTransaction();
        private final List<Runnable> steps = new ArrayList<>();
        private final List<Object[]> rows = new ArrayList<>();
        private @Nullable Runnable ends;
        private int next;
        private long deadline = Long.MAX_VALUE;

        Statement(Session session, String sql, Consumer<Reply> to) {
            this.session = session;
            this.sql = sql;
            this.to = to;
            open.put(transaction, true);
        }

        void then(Runnable step) {
            steps.add(step);
        }

        void run(Runnable atEnd) {
            ends = atEnd;
            later(network.delay(), this::step);
        }

        private void step() {
            if (session.running != this || transaction.isOver()) {
                return;
            }
            try {
                while (next < steps.size()) {
                    steps.get(next).run();
                    next++;
                    deadline = Long.MAX_VALUE;
                    if (next < steps.size() && world.chance(0.1)) {
                        later(network.delay(), this::step);
                        return;
                    }
                }
            } catch (Waits row) {
                if (deadline == Long.MAX_VALUE) {
                    long mine = world.now() + World.ms(session.lockMillis);
                    deadline = mine;
                    later(World.ms(session.lockMillis), () -> {
                        if (deadline == mine) {
                            fails("55P03");
                        }
                    });
                }
                row.until.whenOver(() -> later(1_000, this::step));
                return;
            }
            Objects.requireNonNull(ends).run();
        }

        private void fails(String state) {
            if (session.running == this && !transaction.isOver()) {
                world.trace("    %s: %s fails with %s", name(), sql, state);
                close(transaction);
                send(List.of(), new R2dbcTransientResourceException("refused", state));
            }
        }

        void answer() {
            close(transaction);
            send(rows, null);
        }

        void answer(List<Object[]> all) {
            rows.addAll(all);
            answer();
        }

        private void send(List<Object[]> all, @Nullable R2dbcException error) {
            if (session.running == this) {
                session.running = null;
            }
            session.wire.toClient(() -> to.accept(new Reply(all, error)));
            if (session.isGone) {
                end(session);
            }
        }
    }

    private void call(Statement statement, Map<String, Object> binds) {
        String channel = (String) binds.get("$1");
        SqlFunctions.Call call = functions
        .new Call(statement.transaction, channel, (Integer) binds.get("$2"), (Boolean) binds.get("$3"));
        List<Deed> deeds = deeds(binds, channel);
        List<Answer> answers = new ArrayList<>();
        deeds.forEach(deed -> statement.then(() -> answers.addAll(call.run(deed))));
        statement.run(() -> {
            boolean isDurable = answers.stream()
                            .anyMatch(it ->
                                    it.word().equals("acquired") || it.word().equals("granted"))
                    || deeds.stream()
                            .anyMatch(it -> it.verb().equals("renew")
                                    || (it.verb().equals("release") && it.attempt() == Integer.MAX_VALUE));
            List<Answer> others = answers.stream()
                    .filter(it -> it.isPush()
                            && !it.channel().isEmpty()
                            && !it.channel().equals(channel))
                    .toList();
            commit(statement, isDurable, () -> {
                checkReleases(deeds, answers);
                StringBuilder text = new StringBuilder();
                answers.stream()
                        .filter(it -> !it.isPush() || channel.equals(it.channel()))
                        .forEach(it -> text.append(line(it)).append('\n'));
                if (others.isEmpty()) {
                    statement.answer(row(text.toString()));
                    return;
                }
                later(network.delay(), () -> {
                    if (statement.session.isEnded) {
                        return;
                    }
                    boolean isFull = mayBeFull && world.chance(0.05);
                    if (!isFull) {
                        others.forEach(this::notify);
                    }
                    statement.answer(row(text + (isFull ? "0 unnotified 0 0 0 - -" : "0 notified 0 0 0 - -")));
                });
            });
        });
    }

    private static String line(Answer it) {
        String start = "%d %s %d %d".formatted(it.number(), it.word(), it.token(), it.millis());
        return it.isPush() ? "%s %d %s %s".formatted(start, it.attempt(), it.channel(), it.id()) : start;
    }

    private void notify(Answer message) {
        Session listener = listening.get(message.channel());
        if (listener != null) {
            String[] notification = {message.channel(), line(message)};
            listener.wire.toClient(() -> listener.notified.accept(notification));
        }
    }

    /** Reads the operations of a call. */
    private List<Deed> deeds(Map<String, Object> binds, String channel) {
        List<Deed> deeds = Deed.read((String[]) binds.get("$4"), channel);
        deeds.forEach(it -> world.trace("    %s: %s", name(), it));
        return deeds;
    }

    private void renew(Statement statement, Map<String, Object> binds) {
        SqlFunctions.Call call = functions.new Call(statement.transaction, "", 0, (Boolean) binds.get("$1"));
        String[] ids = (String[]) binds.get("$4");
        for (int i = 0; i < ids.length; i++) {
            String name = ((String[]) binds.get("$2"))[i];
            String kind = ((String[]) binds.get("$3"))[i];
            long lease = ((Long[]) binds.get("$5"))[i];
            long token = ((Long[]) binds.get("$6"))[i];
            int n = i + 1;
            Deed deed = new Deed(n, "renew", name, kind, "", 0, 0, ids[i], lease, 0, "", token);
            statement.then(() -> statement.rows.add(new Object[] {n, call.renew(deed)}));
        }
        statement.run(() -> commit(statement, ids.length > 0, statement::answer));
    }

    /** Checks a lease in a transaction that stays open. */
    private void fence(Statement statement, String name, long token) {
        statement.then(() -> {
            if (!functions.fence(statement.transaction, name, token)) {
                statement.fails("HF001");
            }
        });
        statement.run(() -> {
            if (statement.transaction.isOver()) {
                return;
            }
            Session session = statement.session;
            session.fenced = statement.transaction;
            session.commits = () -> commits(session, statement.transaction, name, token);
            later(idleNanos, () -> close(statement.transaction));
            statement.send(statement.rows, null);
        });
    }

    /** Commits data that was written under a lease. */
    private void commits(Session session, SqlTransaction fenced, String name, long token) {
        Statement statement = session.running;
        if (statement == null || fenced.isOver()) {
            return;
        }
        later(network.delay(), () -> {
            if (!fenced.isOver()) {
                for (SqlFunctions.Hold row : functions.holds.committed()) {
                    if (row.slot == 0
                            && row.lock.startsWith(name + ' ')
                            && row.token % 4 == token % 4
                            && row.token > token) {
                        world.defect(
                                "data of token %d was committed under token %d".formatted(token, row.token),
                                new IllegalStateException("late commit"));
                    }
                }
                world.trace("    %s: data of token %d is committed", name(), token);
                close(fenced);
            }
            statement.answer();
        });
    }

    /** Finds claims that get a lock after their release. */
    private void checkReleases(List<Deed> deeds, List<Answer> answers) {
        for (Answer it : answers) {
            Deed deed = it.isPush()
                    ? null
                    : deeds.stream()
                            .filter(one -> one.n() == it.number())
                            .findFirst()
                            .orElseThrow();
            String id = deed == null ? it.id() : deed.id();
            if (world.isTraced()) {
                world.trace("    %s: %s", name(), line(it));
            }
            if (deed != null && deed.verb().equals("release") && !it.isBusy()) {
                releasedAt.put(id, world.now());
            } else if ((it.word().equals("granted") || it.word().equals("acquired"))
                    && world.now() - releasedAt.getOrDefault(id, Long.MIN_VALUE / 2) < World.ms(25_000)) {
                world.defect(
                        "claim %s was granted after its release".formatted(id), new IllegalStateException("ghost"));
            }
        }
    }

    /** Makes the changes visible, after they are on the disk if they must be durable. */
    private void commit(Statement statement, boolean isDurable, Runnable then) {
        SqlTransaction transaction = statement.transaction;
        if (isDurable && wrong != WrongSql.GRANT_THAT_IS_NOT_FLUSHED) {
            long before = commits;
            later(network.delay(), () -> {
                unflushed.headMap(before).clear();
                Runnable unused = transaction.commit();
                open.remove(transaction);
                then.run();
            });
            return;
        }
        long number = commits++;
        unflushed.put(number, transaction.commit());
        open.remove(transaction);
        later(
                world.between(0, World.ms(600)),
                () -> unflushed.headMap(number, true).clear());
        then.run();
    }

    private void close(SqlTransaction transaction) {
        open.remove(transaction);
        transaction.rollBack();
    }

    /** Ends a session. A transaction that waits for a row is rolled back. A commit under way ends first, and nothing follows it. */
    private void terminate(Session session) {
        Statement running = session.running;
        session.isEnded = true;
        if (running != null && running.deadline != Long.MAX_VALUE) {
            close(running.transaction);
            session.running = null;
        }
        session.wire.closeByServer();
    }

    /** Runs a step of the server, unless it crashes before. */
    private void later(long nanos, Runnable task) {
        int life = lives;
        world.after(nanos, () -> {
            if (life == lives) {
                receive(task);
            }
        });
    }

    @Override
    protected void lost(Wire wire) {
        Session session = sessions.remove(wire);
        if (session != null) {
            session.isGone = true;
            if (session.running == null) {
                end(session);
            }
        }
    }

    private void end(Session session) {
        advisory.values().removeIf(it -> it == session);
        listening.values().removeIf(it -> it == session);
        if (session.fenced != null) {
            close(session.fenced);
        }
    }

    @Override
    protected void forget(boolean dataToo) {
        List.copyOf(open.keySet()).forEach(this::close);
        lives++;
        sessions.clear();
        advisory.clear();
        listening.clear();
        unflushed.descendingMap().values().forEach(Runnable::run);
        unflushed.clear();
        functions.crash();
        if (dataToo) {
            functions.holds.clear();
            releasedAt.clear();
        }
    }

    /** Returns the leases that are not over, and the claims that still wait. */
    List<String> leftovers() {
        List<String> left = new ArrayList<>();
        functions.holds.committed().stream()
                .filter(it -> it.holder != null && it.expires > micros())
                .forEach(it -> left.add("hold " + it.key() + " of " + it.holder));
        functions.waiters.committed().stream()
                .filter(it -> !it.isSilentAt(micros()))
                .forEach(it -> left.add("waiter " + it.key()));
        return left;
    }
}
