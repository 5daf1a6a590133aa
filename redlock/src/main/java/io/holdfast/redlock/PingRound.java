package io.holdfast.redlock;

import io.holdfast.LockBackendException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/** Asks all masters for a sign of life; done when a majority has given one. */
final class PingRound implements ResponseHandler<Boolean> {

    /** No lease tells how long it may take. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Masters masters;
    private final MonoSink<Void> sink;

    // All below: guarded by this.
    private final List<String> failures = new ArrayList<>();
    private Tally tally;

    private PingRound(Masters masters, MonoSink<Void> sink) {
        this.masters = masters;
        this.sink = sink;
        tally = Tally.none(masters.size());
    }

    static Mono<Void> ask(Masters masters) {
        return Mono.create(sink -> {
            PingRound round = new PingRound(masters, sink);
            QuorumRequest<Boolean> request = new QuorumRequest<>(
                    masters, masters.all(), masters.always(PATIENCE), Context.of(sink.contextView()), round);
            sink.onDispose(() -> masters.all().forEach(master -> {
                boolean unused = request.stop(master);
            }));
            request.ask(master -> masters.backend(master).ping().thenReturn(true));
        });
    }

    @Override
    public void heard(int master, Boolean alive) {
        boolean isEnough;
        synchronized (this) {
            tally = tally.plusYes();
            isEnough = tally.yes() == tally.majority();
        }
        if (isEnough) {
            sink.success();
        }
    }

    @Override
    public void failed(int master, Throwable why) {
        String message = null;
        synchronized (this) {
            tally = tally.plusFailed();
            failures.add("%s: %s".formatted(masters.name(master), why.getMessage()));
            if (tally.failed() == tally.majority()) {
                message = "ping: %d of %d masters failed [%s]; is the network up?"
                        .formatted(tally.failed(), masters.size(), String.join("; ", failures));
            }
        }
        if (message != null) {
            sink.error(new LockBackendException("", message, true, null));
        }
    }
}
