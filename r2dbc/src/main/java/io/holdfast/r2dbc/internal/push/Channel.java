package io.holdfast.r2dbc.internal.push;

import io.holdfast.r2dbc.internal.dialect.InboxSettings;
import io.holdfast.r2dbc.internal.dialect.Listening;
import io.holdfast.r2dbc.internal.dialect.Session;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.lane.Connections;
import io.holdfast.r2dbc.internal.lane.Outage;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * The listening connection of one client. It is opened when the first claim must wait. If it is lost while claims wait, it is opened again
 * under a new name, because the server may count the old one as alive for a while.
 *
 * <p>The name begins with a random text, and is stored only in the tables of the locks: any user of the database may notify any channel
 * whose name that user knows.
 */
public final class Channel {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    /** How often a listening connection is pinged while claims wait. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger("io.holdfast.r2dbc.R2dbcLockBackend");

    private final Connections connections;
    private final SqlFailures failures;
    private final Watches watches;
    private final InboxSettings inbox;
    private final Outage listenings = new Outage();

    /** Drawn once. Later, a counter makes a new name, on a thread that must not wait for random numbers. */
    private final String beginning = "holdfast_" + UUID.randomUUID().toString().replace("-", "") + "_";

    /** Written when the channel was lost. */
    private volatile String name = beginning + 0;

    /** Whether it is open or being opened. Guarded by this. */
    private boolean isOpening;

    /** Counts the openings, because the events of an earlier connection do not concern the present one. Guarded by this. */
    private int opening;

    /** Guarded by this. */
    private boolean isClosed;

    /** Guarded by this. */
    private Duration pause = FIRST_PAUSE;

    /** The listening connection. Guarded by this. */
    private @Nullable Session session;

    /** The messages of that connection. Guarded by this. */
    private @Nullable Listening listening;

    /** Its heartbeat, and the subscription to the messages. Guarded by this. */
    private Disposable.Composite tasks = Disposables.composite();

    /** Does not connect yet. */
    public Channel(Connections connections, SqlFailures failures, Watches watches, Duration claimTime) {
        this.connections = connections;
        this.failures = failures;
        this.watches = watches;
        inbox = new InboxSettings(
                claimTime, connections.settings().replyTimeout(), connections.timer(), watches::hasWaiting);
    }

    /**
     * Returns the channel of this client. A claim may be sent with this name before the channel is open: until then the database passes it
     * over.
     */
    public String name() {
        return name;
    }

    /** A claim waits: opens the channel, unless it is open already. */
    public void open() {
        Listening present;
        int number = 0;
        synchronized (this) {
            if (isClosed) {
                return;
            }
            present = listening;
            if (!isOpening) {
                isOpening = true;
                number = ++opening;
            }
        }
        if (present != null) {
            present.claimWaits();
        } else if (number > 0) {
            open(number);
        }
    }

    /** Opens a connection. This is the only place that subscribes to it. */
    private void open(int number) {
        Disposable unused = connections.open().subscribe(fresh -> listen(fresh, number), error -> lost(number, error));
    }

    private void listen(Session fresh, int number) {
        boolean isRefused;
        synchronized (this) {
            isRefused = isClosed;
            session = isRefused ? null : fresh;
        }
        if (isRefused) {
            connections.close(fresh.connection());
            return;
        }
        Disposable unused = connections
                .limited(() -> connections.dialect().listen(fresh.connection(), name, inbox))
                .subscribe(heard -> opened(fresh, heard, number), error -> lost(number, error));
    }

    private void opened(Session open, Listening fresh, int number) {
        Disposable.Composite begun;
        synchronized (this) {
            if (isClosed) {
                return;
            }
            pause = FIRST_PAUSE;
            listenings.ends();
            listening = fresh;
            Disposable.Swap timer = Disposables.swap();
            beatLater(timer, open, number);
            begun = Disposables.composite(timer);
            tasks = begun;
        }
        boolean isOpen = begun.add(fresh.heard()
                .subscribe(
                        watches::deliver,
                        error -> lost(number, error),
                        () -> lost(number, new IllegalStateException("it ended"))));
        if (isOpen) {
            watches.arm();
        }
    }

    /** Not by a periodic task: BlockHound takes the end of one, but not that of a single task, for a wait. */
    private void beatLater(Disposable.Swap timer, Session open, int number) {
        Runnable beat = () -> {
            beat(open, number);
            beatLater(timer, open, number);
        };
        boolean unused = timer.replace(connections.timer().schedule(beat, HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS));
    }

    private void beat(Session listening, int number) {
        if (watches.hasWaiting()) {
            Disposable unused = connections
                    .limited(() -> connections.dialect().ping(listening.connection()))
                    .subscribe(nothing -> {}, error -> lost(number, error));
        }
    }

    private void lost(int number, Throwable error) {
        Session before;
        Duration now;
        Disposable stopped;
        boolean wasOpen;
        synchronized (this) {
            if (isClosed || !isOpening || number != opening) {
                return;
            }
            before = session;
            wasOpen = listening != null;
            stopped = stop();
            now = pause;
            Duration next = pause.multipliedBy(2);
            pause = next.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : next;
            name = beginning + number;
        }
        watches.disarm();
        stopped.dispose();
        if (before != null && error instanceof TimeoutException) {
            connections.abandon(before);
        } else if (before != null) {
            connections.close(before.connection());
        }
        Disposable unused = connections.timer().schedule(this::reopen, now.toMillis(), TimeUnit.MILLISECONDS);
        if (!wasOpen && listenings.begins()) {
            LOG.warn("this client cannot listen, so its waiters get locks late: {}", failures.described(error));
        }
    }

    private void reopen() {
        if (watches.hasWaiting()) {
            open();
        }
    }

    /** Returns what is to be disposed. The connection is dropped, so a request on it may be cancelled. Guarded by this. */
    private Disposable stop() {
        session = null;
        listening = null;
        isOpening = false;
        return tasks;
    }

    /** Closes the channel for good. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            Session last;
            Disposable stopped;
            synchronized (this) {
                isClosed = true;
                last = session;
                stopped = stop();
            }
            stopped.dispose();
            return last == null ? Mono.empty() : connections.ended(last.connection());
        });
    }
}
