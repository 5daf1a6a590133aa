package io.holdfast.redlock.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.redlock.internal.claim.Mailbox;
import io.holdfast.redlock.internal.master.Masters;
import io.holdfast.redlock.internal.master.QuorumRequest;
import io.holdfast.redlock.internal.master.ResponseHandler;
import io.holdfast.redlock.internal.quorum.VoteCount;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/** Sends a ping to all masters; completes when a majority has answered. */
public final class PingRound implements ResponseHandler<Boolean> {

    /** The limit of a request without a lease. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Masters masters;
    private final MonoSink<Void> sink;
    private final Mailbox mailbox = new Mailbox();

    // All below: for events of the mailbox.
    private final List<String> failures = new ArrayList<>();
    private VoteCount votes;

    private PingRound(Masters masters, MonoSink<Void> sink) {
        this.masters = masters;
        this.sink = sink;
        votes = VoteCount.none(masters.size());
    }

    public static Mono<Void> of(Masters masters) {
        return Mono.create(sink -> {
            PingRound round = new PingRound(masters, sink);
            QuorumRequest<Boolean> request =
                    new QuorumRequest<>(masters, masters.all(), PATIENCE, Context.of(sink.contextView()), round);
            sink.onDispose(() -> masters.all().forEach(master -> {
                boolean unused = request.stop(master);
            }));
            request.sendToAll(master -> masters.backend(master).ping().thenReturn(true));
        });
    }

    @Override
    public void heard(int master, Boolean alive) {
        mailbox.post(() -> {
            votes = votes.plusYes();
            if (votes.yes() == votes.majority()) {
                mailbox.after(sink::success);
            }
        });
    }

    @Override
    public void failed(int master, Throwable why) {
        mailbox.post(() -> {
            votes = votes.plusFailed();
            failures.add("%s: %s".formatted(masters.name(master), why.getMessage()));
            if (votes.failed() == votes.majority()) {
                String message = "ping: %d of %d masters failed [%s]; is the network up?"
                        .formatted(votes.failed(), masters.size(), String.join("; ", failures));
                mailbox.after(() -> sink.error(new LockBackendException("", message, true, null)));
            }
        });
    }
}
