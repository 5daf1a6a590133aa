package io.holdfast.vertx;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockClosedException;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/**
 * Gives a verticle the locks of a client, with results as futures of Vert.x. It is cheap: make one in each verticle. The client behind it
 * is shared:
 *
 * <pre>{@code
 * public final class Billing extends VerticleBase {
 *
 *     private final LockClient client; // one per application
 *     private VertxLocks locks;
 *
 *     public Future<?> start() {
 *         locks = VertxLocks.of(client, vertx);
 *         ...
 *     }
 *
 *     private Future<Bill> bill(String customer) {
 *         return locks.lock("customer/" + customer).withLock(lease -> write(customer, lease.fencingToken()));
 *     }
 *
 *     public Future<?> stop() {
 *         return locks.drain();
 *     }
 * }
 * }</pre>
 *
 * <p><b>Futures are hot</b>, as everywhere in Vert.x: the acquisition begins with the call. <b>Context</b>: results come on the context of
 * the caller, {@link Vertx#getOrCreateContext()} at the moment of the call. A duplicated context, such as that of an HTTP request, is kept.
 * No call blocks it.
 *
 * <p><b>Undeployment.</b> Vert.x notifies only the verticle itself, so call {@link #drain()} or {@link
 * #close()} in its {@code stop}. If you do not, its waits
 * go on, and their handlers are still called, as with any future of Vert.x.
 *
 * <p>Futures have no Reactor Context, so these locks are <b>not re-entrant</b>: code that holds a lock and acquires it again waits for
 * itself, at most for {@code waitTimeout}. Pass the lease instead.
 *
 * <p>Thread-safe.
 */
public final class VertxLocks {

    private final LockClient client;
    private final Vertx vertx;
    private final OpenCalls calls = new OpenCalls();

    private VertxLocks(LockClient client, Vertx vertx) {
        this.client = client;
        this.vertx = vertx;
    }

    /**
     * Returns a view of a client.
     *
     * @param client the client, which {@link #close()} does not close
     * @param vertx the Vert.x with the contexts of the results
     * @return a view; no request was sent
     */
    public static VertxLocks of(LockClient client, Vertx vertx) {
        return new VertxLocks(requireNonNull(client, "client"), requireNonNull(vertx, "vertx"));
    }

    /**
     * Reads options from the configuration of a verticle, with the names of {@link LockOptions.Builder}:
     *
     * <pre>{@code
     * {"leaseDuration": "10s", "waitTimeout": "500ms", "autoRenew": true, "maxHoldTime": "5m", "minHoldTime": "1s", "reentrant": true,
     *  "backoff": {"first": "20ms", "max": "1s", "jitter": 0.5}}
     * }</pre>
     *
     * <p>All of them may be left out. A duration is a text: a whole number with one of the units {@code ms}, {@code s}, {@code m} and
     * {@code h}, or in the form of ISO 8601, such as {@code PT10S}. A {@code backoff} may also be {@code {"fixed": "100ms"}}, with or
     * without {@code jitter}.
     *
     * @param configuration such as {@code config().getJsonObject("locks")}
     * @return options, for {@code LockClient.Builder.options} or {@link VertxLock#with}
     * @throws IllegalArgumentException if a name is unknown, a value has another type or is out of range, or two options do not fit
     *     together; the message names them
     */
    public static LockOptions options(JsonObject configuration) {
        return JsonOptions.of(configuration);
    }

    /**
     * Returns an exclusive lock.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a lock with the client's default options; no request was sent
     * @throws IllegalArgumentException if the name is not valid
     */
    public VertxLock lock(String name) {
        return lock(client.lock(name));
    }

    /**
     * Returns any other lock, such as {@code lock(client.semaphore("printers", 3))} or {@code
     * lock(client.readWriteLock("prices").readLock())}.
     *
     * @param lock a lock of the client
     * @return the same lock; no request was sent
     */
    public VertxLock lock(ReactiveLock lock) {
        return new VertxLock(requireNonNull(lock, "lock"), vertx, calls);
    }

    /**
     * Stops to give locks, and lets the holders finish, for the {@code stop} of its verticle. Waits fail with {@link LockClosedException} at
     * once and leave their queues, and later calls fail in the same way, also those of work that holds a lock: a future does not show
     * where it is called from. Leases go on, and so does work under {@code withLock}. Idempotent; the client stays open. {@link #close()} may
     * follow at any time. {@link LockClient#drain()} does the same for all views of the client.
     *
     * @return never fails. It completes on the context of the caller when all work under {@code withLock} has ended, also work that has lost
     *     its lock; the handlers of its results have been called; and the leases of {@code acquire} and {@code tryAcquire} were released or
     *     lost. If this may never happen, limit it with {@link Future#timeout}
     */
    public Future<Void> drain() {
        return Future.fromCompletionStage(calls.drain(), vertx.getOrCreateContext());
    }

    /**
     * Ends all calls of this view, for the {@code stop} of its verticle. Waits fail with {@link LockClosedException} at once and leave
     * their queues, and later calls fail in the same way. Leases of {@code acquire} and {@code tryAcquire} that are still held are
     * released. Work under {@code withLock} cannot be cancelled: it keeps its lock until it ends. Idempotent; the client stays open.
     *
     * @return never fails. It completes on the context of the caller when three things are done: all work under {@code withLock} has ended,
     *     also work that has lost its lock; the handlers of its results have been called; and the releases are confirmed, or one operation
     *     timeout has passed. If work may never end, limit this with {@link Future#timeout}.
     */
    public Future<Void> close() {
        return Future.fromCompletionStage(calls.close(), vertx.getOrCreateContext());
    }
}
