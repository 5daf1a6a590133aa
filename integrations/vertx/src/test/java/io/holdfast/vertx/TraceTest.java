package io.holdfast.vertx;

import static io.holdfast.vertx.Island.done;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockLease;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.spi.context.storage.AccessMode;
import io.vertx.core.spi.context.storage.ContextLocal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The work, and the code after each result, find what a tracer keeps in the context of a request. */
class TraceTest {

    private static final String NAME = "customer/1";

    /** Registered before the first Vert.x of this test is made. */
    private static final ContextLocal<String> SPAN = ContextLocal.registerLocal(String.class);

    @RegisterExtension
    final Island island = new Island();

    private static String span() {
        return SPAN.get(io.vertx.core.Vertx.currentContext(), AccessMode.CONCURRENT);
    }

    private Context request(String span) {
        Context request = ((ContextInternal) island.context).duplicate();
        SPAN.put(request, AccessMode.CONCURRENT, span);
        return request;
    }

    @Test
    void eachRequestKeepsItsOwnSpan() {
        LockLease rival = island.rivalHolds(NAME);
        VertxLock lock = island.locks.lock(NAME);
        List<CompletableFuture<List<String>>> seen = List.of("a", "b").stream()
                .map(span -> island.on(
                        request(span),
                        () -> lock.withLock(lease -> Future.succeededFuture(span()))
                                .compose(inside -> lock.acquire()
                                        .compose(lease -> lease.release().map(released -> List.of(inside, span()))))))
                .toList();
        island.settle();
        island.release(rival);
        for (CompletableFuture<List<String>> it : seen) {
            island.until("the requests have ended", it::isDone);
        }
        assertThat(done(seen.get(0))).containsExactly("a", "a");
        assertThat(done(seen.get(1))).containsExactly("b", "b");
    }
}
