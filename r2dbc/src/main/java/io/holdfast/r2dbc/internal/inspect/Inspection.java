package io.holdfast.r2dbc.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.r2dbc.internal.dialect.Dialect;
import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.lane.Connections;
import io.holdfast.r2dbc.internal.lane.Lanes;
import io.holdfast.r2dbc.internal.operation.BackendSettings;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.support.Printable;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Runs requests of an inspector. Each request has a connection of its own, which is closed after the answer. A request is never cancelled:
 * it ends by itself, each of its steps within the time limit of a reply.
 */
public final class Inspection {

    /** The number of locks that one statement reads. */
    private static final int LOCKS_PER_PAGE = 500;

    /** Of no claim: waiters without a channel are passed over. */
    private static final String CHANNEL = "inspector";

    private final LockQuery query;
    private final Dialect dialect;
    private final Connections connections;
    private final SqlFailures failures;
    private final long claimMillis;

    /** Does not connect yet. */
    public Inspection(BackendSettings settings) {
        dialect = settings.dialect();
        query = new LockQuery(dialect);
        connections = settings.connect();
        failures = settings.failures();
        claimMillis = settings.claimTime().toMillis();
    }

    /** Emits the locks with this name. */
    public Flux<LockReport> named(String name) {
        return named("inspect", name);
    }

    private Flux<LockReport> named(String act, String name) {
        return ask(name, "%s '%s'".formatted(act, Printable.text(name)), open -> query.named(open, name))
                .flatMapIterable(found -> found)
                .map(FoundLock::report);
    }

    /** Emits the holders of one lock. */
    public Flux<LockHolder> holders(LockKey key) {
        LockReport.Type type = LockReport.Type.of(key.kind());
        return named("list the holders of", key.name())
                .filter(report -> report.type() == type)
                .flatMapIterable(LockReport::holders);
    }

    /** Emits all locks that are not free, page by page. Each page is read when it is requested. */
    public Flux<LockReport> all() {
        return Flux.defer(() -> {
            AtomicReference<FoundLock.@Nullable Key> next = new AtomicReference<>(FoundLock.Key.FIRST);
            return Flux.<FoundLock.Key>generate(pages -> {
                        FoundLock.Key after = next.get();
                        if (after == null) {
                            pages.complete();
                        } else {
                            pages.next(after);
                        }
                    })
                    .concatMap(
                            after -> page(after)
                                    .doOnNext(page -> next.set(lastKeyOfAFullPage(page)))
                                    .flatMapIterable(page -> page),
                            0)
                    .filter(found -> !found.isIdle())
                    .map(FoundLock::report);
        });
    }

    private static FoundLock.@Nullable Key lastKeyOfAFullPage(List<FoundLock> page) {
        return page.size() < LOCKS_PER_PAGE ? null : page.get(page.size() - 1).key();
    }

    private Mono<List<FoundLock>> page(FoundLock.Key after) {
        return ask("", "inspect locks", open -> query.page(open, after, LOCKS_PER_PAGE));
    }

    private Mono<List<FoundLock>> ask(
            String lockName, String subject, Function<Connection, Mono<List<FoundLock>>> question) {
        Mono<List<FoundLock>> answer = connections.once(fresh -> connections
                .limited(() -> dialect.prepareInspector(fresh, connections.settings()))
                .then(connections.limited(() -> question.apply(fresh))));
        return Mono.defer(() -> Mono.fromFuture(answer.toFuture(), true))
                .onErrorMap(error -> failures.of(lockName, subject, error));
    }

    /**
     * Releases the lock for the claim that holds it. The next waiters are notified, as after any release. Later attempts of the claim get
     * nothing: its client could renew a lock that such an attempt has taken again, although another owner had it in between.
     */
    public Mono<Boolean> breakHold(LockKey key, String claimId) {
        LockClaim broken = LockClaim.first(key, claimId, Duration.ofSeconds(1), Waiting.NONE)
                .withAttempt(Integer.MAX_VALUE);
        return Mono.usingWhen(
                Mono.fromSupplier(() -> new Lanes(connections, failures, () -> CHANNEL, claimMillis, pushed -> {})),
                lanes -> lanes.send(new Operation(Operation.Verb.RELEASE, broken, false))
                        .map(Answer::ownership)
                        .map(Ownership.HELD::equals),
                Lanes::close);
    }
}
