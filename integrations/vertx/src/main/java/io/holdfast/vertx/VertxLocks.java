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
 * The locks of a client as futures of Vert.x, for one verticle. Cheap, and made where it is used; the client behind it is shared:
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
 *         return locks.close();
 *     }
 * }
 * }</pre>
 *
 * <p><b>Futures are hot</b>, as everywhere in Vert.x: the acquisition begins with the call. <b>Context</b>: results come on the context of
 * the caller, {@link Vertx#getOrCreateContext()} at the moment of the call; one that is a duplicate, as that of an HTTP request, is kept.
 * Nothing blocks it.
 *
 * <p><b>Undeployment.</b> Vert.x tells nobody but the verticle itself, so its {@code stop} calls {@link #close()}. If it does not, its waits
 * go on, and what they come to is called all the same, as with any future of Vert.x.
 *
 * <p>Futures know no Reactor Context, so locks of this kind are <b>not re-entrant</b>: who holds one and asks for it again waits for
 * themselves, at most as long as {@code waitTimeout} says. Pass the lease instead.
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
     * A view of a client.
     *
     * @param client stays the caller's: {@link #close()} does not close it
     * @param vertx whose contexts the results come on
     * @return a view; nothing was sent
     */
    public static VertxLocks of(LockClient client, Vertx vertx) {
        return new VertxLocks(requireNonNull(client, "client"), requireNonNull(vertx, "vertx"));
    }

    /**
     * Options from the configuration of a verticle, with the names of {@link LockOptions.Builder}:
     *
     * <pre>{@code
     * {"leaseDuration": "10s", "waitTimeout": "500ms", "autoRenew": true, "maxHoldTime": "5m", "minHoldTime": "1s", "reentrant": true,
     *  "backoff": {"first": "20ms", "max": "1s", "jitter": 0.5}}
     * }</pre>
     *
     * <p>All of them may be left out. A duration is a text: a whole number with one of the units {@code ms}, {@code s}, {@code m} and {@code h}, or as ISO
     * 8601 has it, such as {@code PT10S}. A {@code backoff} may also be {@code {"fixed": "100ms"}}, with or without {@code jitter}.
     *
     * @param configuration such as {@code config().getJsonObject("locks")}
     * @return options, for {@code LockClient.Builder.options} or {@link VertxLock#with}
     * @throws IllegalArgumentException if a name is unknown, a value has another type or is out of range, or two options do not fit; it names them
     */
    public static LockOptions options(JsonObject configuration) {
        return JsonOptions.of(configuration);
    }

    /**
     * An exclusive lock.
     *
     * @param name 1 to 512 bytes in UTF-8, any characters, not blank
     * @return a lock with the client's default options; nothing was sent
     * @throws IllegalArgumentException if the name is not one
     */
    public VertxLock lock(String name) {
        return lock(client.lock(name));
    }

    /**
     * Any other lock, such as {@code lock(client.semaphore("printers", 3))} or {@code lock(client.readWriteLock("prices").readLock())}.
     *
     * @param lock of the client
     * @return the same lock; nothing was sent
     */
    public VertxLock lock(ReactiveLock lock) {
        return new VertxLock(requireNonNull(lock, "lock"), vertx, calls);
    }

    /**
     * Ends what was begun through this view, for the {@code stop} of its verticle: those who wait fail with {@link LockClosedException} at
     * once and give up their places, and so does who asks later. Leases of {@code acquire} and {@code tryAcquire} that are still held are
     * released. Work under {@code withLock} cannot be cancelled: it keeps its lock until it ends. Idempotent; the client stays open.
     *
     * @return never fails; completes, on the context of the caller, when the work under {@code withLock} has ended, also that which has lost
     *     its lock, the handlers of its result have been called, and the releases are confirmed, or at the latest one operation timeout after. Work that never ends is for {@link Future#timeout} to bound.
     */
    public Future<Void> close() {
        return Future.fromCompletionStage(calls.close(), vertx.getOrCreateContext());
    }
}
