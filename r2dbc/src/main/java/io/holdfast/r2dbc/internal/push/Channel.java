package io.holdfast.r2dbc.internal.push;

import io.holdfast.r2dbc.internal.lane.Connections;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The listening connection of one client. It is opened when a claim first has to wait, and opened again, under a new name, when it was lost while claims
 * wait: the server may take the old one for alive for a while.
 *
 * <p>The name begins at random, and is in the tables of the locks only: any user of the database may notify any channel whose name that user knows.
 */
public final class Channel {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    /** How often a connection that listens is asked for a sign of life, while claims wait. */
    private static final Duration HEARTBEAT = Duration.ofSeconds(5);

    private final Connections connections;
    private final Watches watches;

    /** Drawn once: later, on a thread that must not wait for random numbers, a count makes the name a new one. */
    private final String beginning = "holdfast_" + UUID.randomUUID().toString().replace("-", "") + "_";

    /** Written when the channel was lost. */
    private volatile String name = beginning + 0;

    /** Whether it is open, or being opened. Guarded by this. */
    private boolean isOpening;

    /** Counts the openings: what an earlier connection tells does not concern the present one. Guarded by this. */
    private int opening;

    /** Guarded by this. */
    private boolean isClosed;

    /** Guarded by this. */
    private Duration pause = FIRST_PAUSE;

    /** The connection that listens. Guarded by this. */
    private @Nullable Connection connection;

    /** Guarded by this. */
    private @Nullable Disposable heartbeat;

    /** Opens nothing yet. */
    public Channel(Connections connections, Watches watches) {
        this.connections = connections;
        this.watches = watches;
    }

    /** Where this client is told. Claims may be sent with it before it is open: until then the database passes them over. */
    public String name() {
        return name;
    }

    /** Begins to listen, unless it does already. The one place that subscribes to this. */
    public void open() {
        int number;
        synchronized (this) {
            if (isOpening || isClosed) {
                return;
            }
            isOpening = true;
            number = ++opening;
        }
        Disposable unused = connections.open().subscribe(fresh -> listen(fresh, number), error -> lost(number));
    }

    private void listen(Connection fresh, int number) {
        boolean isRefused;
        synchronized (this) {
            isRefused = isClosed;
            connection = isRefused ? null : fresh;
        }
        if (isRefused) {
            connections.close(fresh);
            return;
        }
        Disposable unused = connections
                .limited(connections.dialect().listen(fresh, name))
                .subscribe(heard -> opened(fresh, heard, number), error -> lost(number));
    }

    private void opened(Connection listening, Flux<String> heard, int number) {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            pause = FIRST_PAUSE;
            heartbeat = connections
                    .timer()
                    .schedulePeriodically(
                            () -> beat(listening, number),
                            HEARTBEAT.toMillis(),
                            HEARTBEAT.toMillis(),
                            TimeUnit.MILLISECONDS);
        }
        Disposable unused = heard.subscribe(
                text -> Push.read(text).forEach(watches::tell), error -> lost(number), () -> lost(number));
        watches.arm();
    }

    private void beat(Connection listening, int number) {
        if (watches.hasWaiting()) {
            Disposable unused = connections
                    .limited(connections.dialect().ping(listening))
                    .subscribe(nothing -> {}, error -> lost(number));
        }
    }

    private void lost(int number) {
        Connection before;
        Duration now;
        synchronized (this) {
            if (isClosed || !isOpening || number != opening) {
                return;
            }
            before = connection;
            stopHeartbeat();
            connection = null;
            isOpening = false;
            now = pause;
            Duration next = pause.multipliedBy(2);
            pause = next.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : next;
            name = beginning + number;
        }
        watches.disarm();
        if (before != null) {
            connections.close(before);
        }
        Disposable unused = connections.timer().schedule(this::reopen, now.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void reopen() {
        if (watches.hasWaiting()) {
            open();
        }
    }

    private void stopHeartbeat() {
        Disposable beating = heartbeat;
        heartbeat = null;
        if (beating != null) {
            beating.dispose();
        }
    }

    /** Ends it for good. */
    public Mono<Void> close() {
        return Mono.defer(() -> {
            Connection last;
            synchronized (this) {
                isClosed = true;
                isOpening = false;
                stopHeartbeat();
                last = connection;
                connection = null;
            }
            return last == null
                    ? Mono.empty()
                    : connections.limited(Mono.from(last.close())).onErrorComplete();
        });
    }
}
