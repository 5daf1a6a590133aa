package io.holdfast.vertx;

import io.holdfast.LockClosedException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The calls and leases of one {@link VertxLocks} that have not ended. */
final class OpenCalls {

    private final Set<Call<?>> calls = ConcurrentHashMap.newKeySet();

    /** Weak references, so that the client still finds and releases a lease that its user has dropped. */
    private final Set<VertxLease> leases = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final CompletableFuture<Void> idle = new CompletableFuture<>();

    /** Written once, by the closing. */
    private volatile boolean isClosed;

    /** A call that begins during the close is ended, too: it is added first, and then checks the flag. */
    void begin(Call<?> call) {
        calls.add(call);
        if (isClosed) {
            giveUp(call);
        }
    }

    void end(Call<?> call) {
        calls.remove(call);
        completeWhenIdle();
    }

    void hold(VertxLease lease) {
        leases.add(lease);
    }

    CompletableFuture<Void> drain() {
        return stopped().thenCompose(unused -> each(VertxLease::end));
    }

    CompletableFuture<Void> close() {
        CompletableFuture<Void> callsEnd = stopped();
        CompletableFuture<Void> now = each(VertxLease::giveBack);
        return callsEnd.thenCompose(unused -> CompletableFuture.allOf(
                now, each(VertxLease::giveBack))); // again: a lease may have been added meanwhile
    }

    /** Ends the waits. Completes when all calls have ended; then no lease is added any more. */
    private CompletableFuture<Void> stopped() {
        isClosed = true;
        List.copyOf(calls).forEach(OpenCalls::giveUp);
        completeWhenIdle();
        return idle;
    }

    private static void giveUp(Call<?> call) {
        call.giveUp(new LockClosedException(call.lock()));
    }

    private CompletableFuture<Void> each(Function<VertxLease, CompletableFuture<?>> ending) {
        return CompletableFuture.allOf(List.copyOf(leases).stream().map(ending).toArray(CompletableFuture<?>[]::new));
    }

    private void completeWhenIdle() {
        if (isClosed && calls.isEmpty()) {
            idle.complete(null);
        }
    }
}
