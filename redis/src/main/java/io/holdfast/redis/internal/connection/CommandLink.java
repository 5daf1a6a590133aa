package io.holdfast.redis.internal.connection;

import io.holdfast.redis.internal.script.ScriptPipeline;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

// Longer than other files: the life of one connection, whose steps share its fields.

/**
 * The way to one server for commands. It has one connection of the driver at a time: made when first needed, shared by all, kept up by the
 * driver from then on, and replaced when the server is silent on it or is not the master any more. All commands travel on it in the order
 * they were given, so a release never overtakes its acquire. A failed attempt to connect is forgotten; the next command tries again.
 */
public final class CommandLink implements ScriptPipeline.Link {

    /** As for the driver's own handshake. */
    private static final Duration PREPARATION_LIMIT = Duration.ofSeconds(5);

    /** So long a connection that was left stays open: what was sent there before is answered meanwhile. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

    private final DriverClient driver;
    private final RedisURI uri;
    private final ConnectionInitializer setup;
    private final Consumer<CommandLink> onConnected;
    private final SilenceDetector silence;
    private final ScriptPipeline scripts;
    private final SendQueue queue;

    /** Those who wait for the connection; polled within the queue only. */
    private final Queue<Unconnected> unconnected = new ConcurrentLinkedQueue<>();

    /** Null before the first attempt and after a failed one. */
    private final AtomicReference<@Nullable CompletableFuture<StatefulRedisConnection<String, String>>> attempt =
            new AtomicReference<>();

    /** Written by the attempt that succeeded, and by who drops the connection. */
    private volatile @Nullable StatefulRedisConnection<String, String> connection;

    /** Written by who ends it. */
    private volatile boolean isEnded;

    /** Null until the first caller wants it; see {@link #blocking}. */
    private final AtomicReference<@Nullable CommandLink> blocking = new AtomicReference<>();

    /** Raised whenever a connection ends or another one is there: before anything can be answered on that one. */
    private final AtomicInteger epoch = new AtomicInteger();

    /** Set while a connection is about to be left; {@link #pace} is touched by the thread that sets it. */
    private final AtomicBoolean isLeaving = new AtomicBoolean();

    private final ReconnectBackoff pace = new ReconnectBackoff();

    /** A call that waits for an attempt to connect. */
    private record Unconnected(
            CompletableFuture<StatefulRedisConnection<String, String>> attempt,
            BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {}

    /** Of the only server. Without a connection. */
    public CommandLink(DriverClient driver, RedisURI uri) {
        this(driver, uri, Duration.ofMillis(SilenceDetector.SHORTEST_MILLIS), true, driver.setup(), driver::connected);
    }

    /**
     * Of one server among several. Without a connection.
     *
     * @param patience so long a server may say nothing before a doubted connection is dropped
     */
    public CommandLink(DriverClient driver, RedisURI uri, Duration patience) {
        this(driver, uri, patience, false, driver.setup(), driver::connected);
    }

    private CommandLink(
            DriverClient driver,
            RedisURI uri,
            Duration patience,
            boolean isOfAllKeys,
            ConnectionInitializer setup,
            Consumer<CommandLink> onConnected) {
        this.driver = driver;
        this.uri = uri;
        this.setup = setup;
        this.onConnected = onConnected;
        silence = new SilenceDetector(patience, driver::later, driver::nanoTime);
        scripts = new ScriptPipeline(this, isOfAllKeys);
        queue = new SendQueue(driver::runWhereCommandsAreWritten, scripts::flush);
    }

    @Override
    public RedisURI uri() {
        return uri;
    }

    /** The connection if it was made already, in force or being restored. */
    @Nullable
    public StatefulRedisConnection<String, String> ready() {
        return connection;
    }

    /** Calls back once, with one of both, in the order of the calls: dependents of a future would come last first. */
    public void whenConnected(BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {
        CompletableFuture<StatefulRedisConnection<String, String>> wanted = made();
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

    /** Completes when there is a connection, in force or being restored. */
    public CompletableFuture<StatefulRedisConnection<String, String>> made() {
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

    /** Scripts that are sent to this server. */
    public ScriptPipeline scripts() {
        return scripts;
    }

    /** Sends in the order of the calls; see {@link SendQueue}. */
    @Override
    public void inOrder(Runnable send) {
        queue.send(() -> {
            scripts.flush();
            send.run();
        });
    }

    /** As any other one. What it gives to {@link #scripts} leaves together with others that are due. */
    public void inOrderWithOthers(Runnable sendScript) {
        queue.send(sendScript);
    }

    @Override
    public void asked() {
        silence.asked();
    }

    @Override
    public void answered() {
        silence.answered();
    }

    @Override
    public void later(Duration pause, Runnable task) {
        driver.later(pause, task);
    }

    public boolean isSilentSince(long nanoTime) {
        return silence.isSilentSince(nanoTime);
    }

    /** Another connection to the same server, for commands that block theirs. Dropped together with this one. */
    public CommandLink blocking() {
        CommandLink made = blocking.get();
        if (made != null) {
            return made;
        }
        CommandLink mine = new CommandLink(
                driver, uri, silence.patience(), false, ConnectionInitializer.NONE, link -> {}); // connects nowhere yet
        CommandLink other = blocking.compareAndExchange(null, mine);
        if (isEnded) {
            mine.end();
        }
        return other == null ? mine : other;
    }

    /**
     * A command was given up on: drops its connection, if nothing is answered for a while longer although something was asked. A
     * peer that went away without a word, or a firewall that has forgotten the connection, leaves it open for hours.
     *
     * @param used the connection that the command was sent on
     * @param atDrop run when it was dropped
     */
    public void doubt(@Nullable StatefulRedisConnection<String, String> used, Runnable atDrop) {
        silence.doubt(() -> {
            if (drop(used)) {
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
    public void leave(@Nullable StatefulRedisConnection<String, String> used, Runnable atLeave) {
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
    public boolean drop() {
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
    public void end() {
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
        scripts.reconnected();
    }

    /** Which connection this is. What was asked and answered in one epoch was so on one connection. */
    public int epoch() {
        return epoch.get();
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
                connection = prepared; // last, so that no new command passes those that waited for it
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

        /** It was left, and another one is in force: what becomes of this one changes nothing. */
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
