package io.holdfast.r2dbc.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.LockKind;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.lane.Connections;
import io.holdfast.r2dbc.internal.lane.Lanes;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.r2dbc.internal.protocol.Push;
import io.holdfast.r2dbc.internal.push.Channel;
import io.holdfast.r2dbc.internal.push.Watches;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.List;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The operations of one back end, built from the calls and the channel. */
public final class LockOperations {

    /** A lock that is never taken. Renewing it shows that the functions answer. */
    private static final LockKey PING = LockKey.of(LockKind.MUTEX, "holdfast/ping");

    private final Watches watches;
    private final Channel channel;
    private final Lanes lanes;

    /** Does not connect yet. */
    public LockOperations(BackendSettings settings) {
        Connections connections = settings.connect();
        watches = new Watches(connections.deadlines(), settings.timer(), settings.claimTime(), this::giveBack);
        SqlFailures failures = settings.failures();
        channel = new Channel(connections, failures, watches, settings.claimTime());
        lanes = new Lanes(
                connections, failures, channel::name, settings.claimTime().toMillis(), this::deliver);
    }

    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return Mono.defer(() -> {
                    boolean isWatched = watches.beginAttempt(claim);
                    return lanes.send(new Operation(Operation.Verb.ACQUIRE, claim, isWatched));
                })
                .map(Answer::attemptAnswer)
                .doOnNext(answer -> answered(claim, answer));
    }

    private void answered(LockClaim claim, LockAttempt answer) {
        watches.answered(claim, answer);
        if (claim.waiting() != Waiting.NONE
                && !(answer instanceof LockAttempt.Acquired)
                && watches.isWatched(claim.id())) {
            channel.open();
        }
    }

    public Mono<Renewal> renew(LockClaim claim) {
        return adopt(claim, 0);
    }

    /** A token of 0 stands for any token. */
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        Operation renewal = new Operation(Operation.Verb.RENEW, claim, false, fencingToken);
        return lanes.send(renewal).map(answer -> answer.renewal(Duration.ofMillis(renewal.leaseMillis())));
    }

    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return Flux.defer(() -> {
            List<Operation> renewals = claims.stream()
                    .map(claim -> new Operation(Operation.Verb.RENEW, claim, false))
                    .toList();
            return Flux.mergeSequential(
                    lanes.sendAll(renewals, LockOperations::renewed), Math.max(1, renewals.size()), 1);
        });
    }

    private static Mono<Renewal> renewed(Operation renewal, Mono<Answer> answer) {
        return answer.map(it -> it.renewal(Duration.ofMillis(renewal.leaseMillis())))
                .onErrorResume(LockBackendException.class, failure -> Mono.just(new Renewal.Unknown(failure)));
    }

    public Mono<Ownership> release(LockClaim claim) {
        return lanes.send(new Operation(Operation.Verb.RELEASE, claim, false)).map(Answer::ownership);
    }

    /**
     * Releases a grant for a claim that does not wait any more, so that the next waiter gets the lock at once. This is the only place that
     * subscribes by itself.
     */
    private void giveBack(LockClaim left) {
        // If this fails, the grant ends with its claim time.
        Disposable unused = release(left).subscribe(ownership -> {}, error -> {});
    }

    /** Notifies claims of this client directly, without a message through the database. */
    private void deliver(List<Answer> pushed) {
        pushed.forEach(it -> watches.deliver(Push.of(it)));
    }

    public Flux<WatchSignal> watch(LockClaim claim) {
        return watches.watch(claim);
    }

    /** Returns the number of watched claims, for tests. */
    public int watchCount() {
        return watches.size();
    }

    public Mono<Void> ping() {
        LockClaim neverGranted = LockClaim.first(PING, "ping", Duration.ofSeconds(1), Waiting.NONE);
        return lanes.send(new Operation(Operation.Verb.PING, neverGranted, false))
                .then();
    }

    public Mono<Void> close() {
        return Mono.defer(() -> {
            watches.fail(new LockBackendException("", "cannot watch any longer: the back end was closed", false, null));
            return lanes.close().then(channel.close());
        });
    }
}
