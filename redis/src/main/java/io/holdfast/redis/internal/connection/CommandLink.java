package io.holdfast.redis.internal.connection;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.ScriptPipeline;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

// Longer than other files: the life of one connection, whose steps share its fields.

/**
 * Sends commands to one server. It has one connection of the driver at a time: made when first needed, shared by all
 * callers, and restored by the driver. The link replaces the connection when the server is silent on it or is not the
 * master any more. All commands travel on it in the order of the calls, so a release never overtakes its acquire. A
 * failed attempt to connect is forgotten; the next command tries again.
 */
public final class CommandLink implements ScriptPipeline.Link {

    /** The same as the driver's limit for its own handshake. */
    private static final Duration PREPARATION_LIMIT = Duration.ofSeconds(5);

    /** How long a connection that was left stays open, so that the server can still answer earlier commands. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

    private final DriverClient driver;
    private final RedisURI uri;
    private final boolean isForBlocking;
    private final SilenceDetector silence;
    private final ScriptPipeline scripts;
    private final SendQueue queue;

    /** The calls that wait for the connection; polled within the queue only. */
    private final Queue<Unconnected> unconnected = new ConcurrentLinkedQueue<>();

    /** Null before the first attempt and after a failed one. */
    private final AtomicReference<@Nullable CompletableFuture<StatefulRedisConnection<String, String>>> attempt =
            new AtomicReference<>();

    /** Written by the attempt that succeeded, and by the thread that drops the connection. */
    private volatile @Nullable StatefulRedisConnection<String, String> connection;

    /** Written by the thread that ends the link. */
    private volatile boolean isEnded;

    /** Null until the first caller needs it; see {@link #blocking}. */
    private final AtomicReference<@Nullable CommandLink> blocking = new AtomicReference<>();

    /** Raised when a connection ends and when another one is made, before any answer on that one. */
    private final AtomicInteger epoch = new AtomicInteger();

    /** Set while the link is about to leave a connection; only the thread that sets it uses {@link #pace}. */
    private final AtomicBoolean isLeaving = new AtomicBoolean();

    private final ReconnectBackoff pace = new ReconnectBackoff();

    /** A call that waits for an attempt to connect. */
    private record Unconnected(
            CompletableFuture<StatefulRedisConnection<String, String>> attempt,
            BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {}

    /** Makes the link to the only server. It is not connected. */
    public CommandLink(DriverClient driver, RedisURI uri) {
        this(driver, uri, Duration.ofMillis(SilenceDetector.SHORTEST_MILLIS), true, false);
    }

    /**
     * Makes the link to one server among several. It is not connected.
     *
     * @param patience how long a server may be silent before a doubted connection is dropped
     */
    public CommandLink(DriverClient driver, RedisURI uri, Duration patience) {
        this(driver, uri, patience, false, false);
    }

    private CommandLink(
            DriverClient driver, RedisURI uri, Duration patience, boolean isOfAllKeys, boolean isForBlocking) {
        this.driver = driver;
        this.uri = uri;
        this.isForBlocking = isForBlocking;
        silence = new SilenceDetector(patience, driver::later, driver::nanoTime);
        scripts = new ScriptPipeline(this, isOfAllKeys);
        queue = new SendQueue(driver::runWhereCommandsAreWritten, scripts::flush);
    }

    @Override
    public RedisURI uri() {
        return uri;
    }

    /** Returns the connection if it was made already, in force or being restored. */
    @Override
    public @Nullable StatefulRedisConnection<String, String> ready() {
        return connection;
    }

    /**
     * Calls back once, with the connection or the error, in the order of the calls. A future would call its dependents
     * in the reverse order.
     */
    public void whenConnected(BiConsumer<@Nullable StatefulRedisConnection<String, String>, @Nullable Throwable> then) {
        CompletableFuture<StatefulRedisConnection<String, String>> wanted = made();
        unconnected.add(new Unconnected(wanted, then));
        var unused = wanted.whenComplete((made, error) -> inOrder(this::callUnconnected));
    }

    /**
     * Calls each one back with the result of its own attempt: a call right after a failure waits for the next attempt
     * already.
     */
    private void callUnconnected() {
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

    /** Whether the server was given up for good. */
    public boolean isEnded() {
        return isEnded;
    }

    /** Returns the scripts that are sent to this server. */
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

    /**
     * As {@link #inOrder}, but the commands that it gives to {@link #scripts} leave together with others that are due.
     */
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

    public boolean isSilentSince(long nanoTime) {
        return silence.isSilentSince(nanoTime);
    }

    /**
     * Returns another connection to the same server, for commands that block their connection. It is dropped together
     * with this one.
     */
    public CommandLink blocking() {
        CommandLink made = blocking.get();
        if (made != null) {
            return made;
        }
        CommandLink mine = new CommandLink(driver, uri, silence.patience(), false, true); // connects nowhere yet
        CommandLink other = blocking.compareAndExchange(null, mine);
        if (isEnded) {
            mine.end();
        }
        return other == null ? mine : other;
    }

    /**
     * Drops the connection of a command that timed out, if the server answers nothing for a while longer although
     * commands were sent. A peer that vanished, or a firewall that has forgotten the connection, leaves it open for
     * hours.
     *
     * @param used the connection of the command
     * @param atDrop run after the connection was dropped
     */
    public void doubt(@Nullable StatefulRedisConnection<String, String> used, Runnable atDrop) {
        silence.doubt(() -> {
            if (drop(used, Duration.ZERO)) {
                atDrop.run();
            }
        });
    }

    /**
     * Leaves a connection whose server takes no writes: it is not the master any more, or not yet. The next connection
     * resolves the address anew. The server can still answer the commands under way. A connection is left once, however
     * many answers say so. While each new one leads to such a server again, the pauses before leaving become longer.
     *
     * @param used the connection of the answer
     */
    public void leave(@Nullable StatefulRedisConnection<String, String> used) {
        if (used == null || used != connection || !isLeaving.compareAndSet(false, true)) {
            return;
        }
        long pause = used == connection ? pace.nextPause(driver.nanoTime()) : 0;
        if (pause == 0) {
            leaveNow(used);
        } else {
            driver.later(Duration.ofNanos(pause), () -> leaveNow(used));
        }
    }

    private void leaveNow(StatefulRedisConnection<String, String> used) {
        CommandLink side = blocking.get();
        boolean isLeft = drop(used, LAST_ANSWERS);
        isLeaving.set(false);
        if (isLeft) {
            boolean unused = side != null && side.drop();
        }
    }

    /**
     * Ends an open connection; the next command makes a new one. The commands under way on the old one fail, with an
     * unknown outcome.
     *
     * @return false if there is no open connection
     */
    public boolean drop() {
        CommandLink side = blocking.get();
        if (side != null) {
            boolean unused = side.drop();
        }
        return drop(connection, Duration.ZERO);
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
        setup().left(this);
        return true;
    }

    /** Closes the link for good, in any state. The commands under way get no answer. */
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
        setup().left(this);
    }

    private ConnectionInitializer setup() {
        return isForBlocking ? ConnectionInitializer.NONE : driver.setup();
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

    /** Adds to the error of a command that the driver refused why the connection could not be restored, if that is known. */
    public Throwable explained(Throwable error) {
        Throwable why = ExceptionTranslator.isUnsent(error) ? driver.reconnectFailure(uri) : null;
        return why == null ? error : new RedisException(error.getMessage(), why);
    }

    /** Returns the number of the connection. A command and its answer in one epoch were on one connection. */
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
            StatefulRedisPubSubConnection<String, String> made,
            CompletableFuture<StatefulRedisConnection<String, String>> mine) {
        nextEpoch();
        made.addListener(new Epochs(made));
        CompletableFuture<?> preparation = setup().prepare(this, made);
        if (!preparation.isDone()) {
            // Fails the preparation itself: it may succeed at this moment, and a connection that is closed then would
            // stay in force.
            driver.later(PREPARATION_LIMIT, () -> {
                boolean unusedToo = preparation.completeExceptionally(
                        new RedisException("the preparation of the connection timed out"));
            });
        }
        var unused = preparation.whenComplete((prepared, error) -> {
            if (error == null) {
                answered();
                mine.complete(made);
                connection = made; // last, so no new command overtakes those that waited for it
                if (isEnded) {
                    connection = null;
                    close(made);
                }
                reportConnected();
            } else {
                close(made);
                fail(mine, error);
            }
        });
    }

    private void reportConnected() {
        if (!isForBlocking) {
            driver.connected(this);
        }
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
                reportConnected();
            }
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
            if (!isReplaced()) {
                nextEpoch();
            }
        }

        /** The link has left this connection, and another one is in force: the fate of this one changes nothing. */
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
