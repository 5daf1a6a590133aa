package io.holdfast.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one connection for commands to one server: made when first needed, shared by all, kept up by the driver from then on.
 * All commands travel on it in the order they were given, so a release never overtakes its acquire. A failed attempt is
 * forgotten; the next command tries again.
 */
final class CommandLink {

    /** As for the driver's own handshake. */
    private static final Duration PREPARATION_LIMIT = Duration.ofSeconds(5);

    /** So long a connection that was left stays open: what was sent there before is answered meanwhile. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

    /** So long the answer to a call that nobody waits for may still tell that the server has the script. */
    private static final Duration LATE_ANSWER = Duration.ofMillis(500);

    /** Less is no silence. */
    private static final long SILENCE_MILLIS = 100;

    private final Driver driver;
    private final RedisURI uri;
    private final long patienceNanos;
    private final ConnectionSetup setup;
    private final Consumer<CommandLink> onConnected;
    private final Outbox outbox = new Outbox();

    /** Whether one script call may have keys of several locks. Cleared where the server refuses that. */
    private volatile boolean joinsCalls;

    /** For the next command that is written; null while one is. Not of the thread, which may outlive this class. */
    private final AtomicReference<@Nullable ScriptArgs> scratch = new AtomicReference<>();

    private final SendQueue queue;

    /** Used within the queue. */
    private final ScriptLoads loads = new ScriptLoads();

    /** Those who wait for the connection; polled within the queue only. */
    private final Queue<Unconnected> unconnected = new ConcurrentLinkedQueue<>();

    /** Null before the first attempt and after a failed one. */
    private final AtomicReference<@Nullable CompletableFuture<StatefulRedisConnection<String, String>>> attempt =
            new AtomicReference<>();

    /** Written by the attempt that succeeded, and by who drops the connection. */
    private volatile @Nullable StatefulRedisConnection<String, String> connection;

    /** Written by who ends it. */
    private volatile boolean isEnded;

    /** Null until somebody wants it; see {@link #blocking}. */
    private final AtomicReference<@Nullable CommandLink> blocking = new AtomicReference<>();

    /** Raised whenever a connection ends or another one is there: before anything can be answered on that one. */
    private final AtomicInteger epoch = new AtomicInteger();

    /** Written by the driver's threads. */
    private volatile long answeredAt;

    /** Set while it is to be seen whether the connection is silent. */
    private final AtomicBoolean isDoubted = new AtomicBoolean();

    /** Set while a connection is about to be left; {@link #pace} is touched by the thread that sets it. */
    private final AtomicBoolean isLeaving = new AtomicBoolean();

    private final LeavePace pace = new LeavePace();

    /** Written by those who send: when the first command was sent after the last answer. */
    private volatile long askedAt;

    /** Scripts that the server has shown to have, in this epoch. */
    private final Set<LuaScript> present = ConcurrentHashMap.newKeySet();

    /** The answer that nobody saw may have been that the server does not know the script. If all come so late, it would never get it. */
    private final Set<LuaScript> uncertain = ConcurrentHashMap.newKeySet();

    /** A call that waits for an attempt to connect. */
    private record Unconnected(
            CompletableFuture<StatefulRedisConnection<String, String>> attempt,
            BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {}

    /** Of the only server. Without a connection. */
    CommandLink(Driver driver, RedisURI uri) {
        this(driver, uri, Duration.ofMillis(SILENCE_MILLIS));
        joinsCalls = true;
    }

    /**
     * Of one server among several. Without a connection.
     *
     * @param patience so long a server may say nothing before a doubted connection is dropped
     */
    CommandLink(Driver driver, RedisURI uri, Duration patience) {
        this(driver, uri, patience, driver.setup(), driver::connected);
    }

    private CommandLink(
            Driver driver, RedisURI uri, Duration patience, ConnectionSetup setup, Consumer<CommandLink> onConnected) {
        this.driver = driver;
        this.uri = uri;
        patienceNanos = patience.toNanos();
        queue = new SendQueue(driver::runWhereCommandsAreWritten, outbox::sendAll);
        this.setup = setup;
        this.onConnected = onConnected;
        answeredAt = driver.nanoTime();
        askedAt = answeredAt;
    }

    RedisURI uri() {
        return uri;
    }

    /** The connection if it was made already, in force or being restored. */
    @Nullable
    StatefulRedisConnection<String, String> ready() {
        return connection;
    }

    /** Calls back once, with one of both, in the order of the calls: dependents of a future would come last first. */
    void whenConnected(BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {
        CompletableFuture<StatefulRedisConnection<String, String>> wanted = connect();
        unconnected.add(new Unconnected(wanted, then));
        var unused = wanted.whenComplete((made, error) -> inOrder(this::tellUnconnected));
    }

    /** Each of its own attempt: what follows a failure at once waits for the next attempt already. */
    private void tellUnconnected() {
        for (var next = unconnected.peek(); next != null && next.attempt().isDone(); next = unconnected.peek()) {
            unconnected.remove();
            var unused = next.attempt().whenComplete(next.then());
        }
    }

    private CompletableFuture<StatefulRedisConnection<String, String>> connect() {
        if (isEnded) {
            return CompletableFuture.failedFuture(
                    new RedisException("rejected: the server is not part of the cluster any more"));
        }
        CompletableFuture<StatefulRedisConnection<String, String>> mine = new CompletableFuture<>();
        while (!attempt.compareAndSet(null, mine)) {
            CompletableFuture<StatefulRedisConnection<String, String>> other = attempt.get();
            if (other != null) {
                return other;
            }
        }
        start(mine);
        return mine;
    }

    /** Sends in the order of the calls; see {@link SendQueue}. */
    void inOrder(Runnable send) {
        queue.send(() -> {
            outbox.sendAll();
            send.run();
        });
    }

    /** As any other one. Its command leaves together with others that are due. */
    void inOrder(ScriptCall<?> call) {
        queue.send(call);
    }

    /**
     * Sends a script. Within {@link #inOrder} only.
     *
     * @param asking whether the server wants to hear {@code ASKING} first
     */
    void send(ScriptCommand<?, ?> command, boolean asking) {
        if (asking) {
            outbox.sendAll();
            var unused = command.connection().async().asking();
        }
        outbox.add(command);
    }

    boolean joinsCalls() {
        return joinsCalls;
    }

    /** The server refuses calls with keys of several locks: it is several servers behind a proxy. */
    void joinNoMore() {
        joinsCalls = false;
    }

    /** Empty arguments for a command that is written at once. Those that were used before, unless another command is being written. */
    ScriptArgs borrowArgs() {
        ScriptArgs known = scratch.getAndSet(null);
        return known == null ? new ScriptArgs(ScriptArgs.USUAL_BYTES) : known;
    }

    /** They are used no more. */
    void giveBack(ScriptArgs args) {
        args.clear();
        scratch.set(args);
    }

    /** The server has said something. */
    void answered() {
        answeredAt = driver.nanoTime();
    }

    boolean isSilentSince(long nanoTime) {
        return answeredAt - nanoTime < 0;
    }

    /**
     * A call was answered, whether or not somebody still waits for that.
     *
     * @param error null for none
     */
    void answered(LuaScript script, @Nullable String error) {
        // The script's own error contains its hash: the server has the script, and other calls need not bring it.
        // A server that is no master gets none of the calls that wait: they wait for the next connection.
        if (error == null || (error.contains(script.sha()) && !KnownError.tellsOfNoMaster(error))) {
            if (!present.contains(script)) {
                present.add(script);
            }
            if (loads.isAny()) {
                inOrder(() -> loads.arrived(script));
            }
        } else if (error.startsWith("NOSCRIPT")) {
            present.remove(script);
        }
        answered();
    }

    /** Within {@link #inOrder} only. */
    ScriptLoads loads() {
        return loads;
    }

    /**
     * A call that was to bring a script has ended.
     *
     * @param isLate whether its answer may still come: others wait for that a while
     */
    void ended(LuaScript script, ScriptLoads.Call call, boolean isLate) {
        if (isLate) {
            driver.later(LATE_ANSWER, () -> inOrder(() -> loads.ended(script, call)));
        } else {
            inOrder(() -> loads.ended(script, call));
        }
    }

    /** A call was given up on. */
    void unanswered(LuaScript script) {
        if (!present.contains(script)) {
            uncertain.add(script);
        }
    }

    /** Whether to send this call with the whole script. One does it for all: it is a lot of bytes. */
    boolean mayLack(LuaScript script) {
        return !uncertain.isEmpty() && uncertain.remove(script);
    }

    /** A command is sent. */
    void asked() {
        if (answeredAt - askedAt >= 0) {
            askedAt = driver.nanoTime();
        }
    }

    /** Another connection to the same server, for commands that block theirs. Dropped together with this one. */
    CommandLink blocking() {
        CommandLink made = blocking.get();
        if (made != null) {
            return made;
        }
        CommandLink mine = new CommandLink(
                driver, uri, Duration.ofNanos(patienceNanos), ConnectionSetup.NONE, link -> {}); // connects nowhere yet
        CommandLink other = blocking.compareAndExchange(null, mine);
        if (isEnded) {
            mine.end();
        }
        return other == null ? mine : other;
    }

    /**
     * A command was given up on: drops its connection, if nothing is answered for a while longer although something was asked. A
     * peer that went away without a word, or a firewall that has forgotten the connection, leaves it open for hours. Not at once:
     * after a pause of this process, the answers are there and only have to be read.
     *
     * @param used the connection that the command was sent on
     * @param atDrop run when it was dropped
     */
    void doubt(@Nullable StatefulRedisConnection<String, String> used, Runnable atDrop) {
        if (answeredAt - askedAt >= 0 || !isDoubted.compareAndSet(false, true)) {
            return;
        }
        long rest = patienceNanos - (driver.nanoTime() - askedAt);
        driver.later(Duration.ofNanos(Math.max(rest, TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS))), () -> {
            isDoubted.set(false);
            long asked = askedAt;
            boolean isSilent = answeredAt - asked < 0 && driver.nanoTime() - asked >= patienceNanos;
            if (isSilent && drop(used)) {
                atDrop.run();
            }
        });
    }

    /**
     * The server takes no writes: it is not the master any more, or not yet. Leaves the connection; the next one finds the server by its
     * address anew. What is under way is answered first. However many answers say so, a connection is left once; and while each new one leads
     * to such a server again, after longer and longer pauses.
     *
     * @param used the connection that the answer came on
     * @param atLeave run when it was left
     */
    void leave(@Nullable StatefulRedisConnection<String, String> used, Runnable atLeave) {
        if (used == null || used != connection || !isLeaving.compareAndSet(false, true)) {
            return;
        }
        long pause = used == connection ? pace.nextPause(driver.nanoTime()) : 0;
        if (pause == 0) {
            leaveNow(used, atLeave);
        } else {
            driver.later(Duration.ofNanos(pause), () -> leaveNow(used, atLeave));
        }
    }

    private void leaveNow(StatefulRedisConnection<String, String> used, Runnable atLeave) {
        CommandLink side = blocking.get();
        boolean isLeft = drop(used, LAST_ANSWERS);
        isLeaving.set(false);
        if (isLeft) {
            boolean unused = side != null && side.drop();
            atLeave.run();
        }
    }

    /**
     * Ends an open connection; the next command makes a new one. What is under way on the old one fails, with an unknown outcome.
     *
     * @return false when there is none that is open
     */
    boolean drop() {
        CommandLink side = blocking.get();
        if (side != null) {
            boolean unused = side.drop();
        }
        return drop(connection);
    }

    private boolean drop(@Nullable StatefulRedisConnection<String, String> old) {
        return drop(old, Duration.ZERO);
    }

    private boolean drop(@Nullable StatefulRedisConnection<String, String> old, Duration grace) {
        CompletableFuture<StatefulRedisConnection<String, String>> made = attempt.get();
        if (old == null || old != connection || !old.isOpen() || made == null || !attempt.compareAndSet(made, null)) {
            return false;
        }
        connection = null;
        nextEpoch();
        if (grace.isZero()) {
            close(old);
        } else {
            driver.later(grace, () -> close(old));
        }
        return true;
    }

    /** Closes it for good, whatever its state. What is under way stays without an answer. */
    void end() {
        isEnded = true;
        CommandLink side = blocking.get();
        if (side != null) {
            side.end();
        }
        CompletableFuture<StatefulRedisConnection<String, String>> made = attempt.get();
        connection = null;
        if (made != null) {
            var unused = made.thenAccept(this::close);
        }
    }

    private void close(StatefulRedisConnection<String, String> old) {
        inOrder(() -> {
            var unused = old.closeAsync();
        });
    }

    private void nextEpoch() {
        epoch.incrementAndGet();
        present.clear(); // it may be another server, or one that has forgotten
        if (loads.isAny()) {
            inOrder(loads::interrupted);
        }
    }

    /** Which connection this is. What was asked and answered in one epoch was so on one connection. */
    int epoch() {
        return epoch.get();
    }

    /** Completes when there is a connection, in force or being restored. */
    CompletableFuture<?> made() {
        return connect();
    }

    /** The answer to INFO with one section. */
    CompletableFuture<String> info(String section) {
        return ask(made -> made.async().info(section));
    }

    CompletableFuture<String> pong() {
        return ask(made -> made.async().ping());
    }

    /** The answer to CLUSTER SLOTS. */
    CompletableFuture<List<Object>> slots() {
        return ask(made -> made.async().clusterSlots());
    }

    private <T> CompletableFuture<T> ask(Function<StatefulRedisConnection<String, String>, RedisFuture<T>> question) {
        return connect().thenCompose(made -> {
            CompletableFuture<T> result = new CompletableFuture<>();
            inOrder(() -> {
                asked();
                var unused = question.apply(made).whenComplete((answer, error) -> {
                    if (error == null || KnownError.isAnswer(error)) {
                        answered();
                    }
                    if (error == null) {
                        result.complete(answer);
                    } else {
                        result.completeExceptionally(error);
                    }
                });
            });
            return result;
        });
    }

    private void start(CompletableFuture<StatefulRedisConnection<String, String>> mine) {
        var unused = driver.connect(uri).whenComplete((made, error) -> {
            if (error == null) {
                prepare(made, mine);
            } else {
                fail(mine, error);
            }
        });
    }

    private void prepare(
            StatefulRedisConnection<String, String> made,
            CompletableFuture<StatefulRedisConnection<String, String>> mine) {
        nextEpoch();
        made.addListener(new Epochs(made));
        CompletableFuture<StatefulRedisConnection<String, String>> preparation = setup.prepare(this, made);
        if (!preparation.isDone()) {
            driver.later(PREPARATION_LIMIT, () -> {
                if (!preparation.isDone()) {
                    close(made); // the preparation fails by that, and the next command tries again
                }
            });
        }
        var unused = preparation.whenComplete((prepared, error) -> {
            if (error == null) {
                answered();
                mine.complete(prepared);
                connection = prepared; // last, so that nobody passes those who waited for it
                if (isEnded) {
                    connection = null;
                    close(prepared);
                }
                onConnected.accept(this);
            } else {
                fail(mine, error);
            }
        });
    }

    private final class Epochs implements RedisConnectionStateListener {

        private final StatefulRedisConnection<String, String> mine;

        Epochs(StatefulRedisConnection<String, String> mine) {
            this.mine = mine;
        }

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> restored, SocketAddress server) {
            if (!isReplaced()) {
                nextEpoch();
                answered();
                onConnected.accept(CommandLink.this);
            }
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
            if (!isReplaced()) {
                nextEpoch();
            }
        }

        /** It was left, and another one is in force: what becomes of this one concerns nobody. */
        private boolean isReplaced() {
            StatefulRedisConnection<String, String> present = connection;
            return present != null && present != mine;
        }
    }

    private void fail(CompletableFuture<StatefulRedisConnection<String, String>> mine, Throwable error) {
        attempt.compareAndSet(mine, null);
        mine.completeExceptionally(error);
    }
}
