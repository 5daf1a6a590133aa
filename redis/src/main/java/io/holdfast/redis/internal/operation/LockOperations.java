package io.holdfast.redis.internal.operation;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.redis.internal.call.ScriptMono;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.inspect.LockReader;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.pubsub.GrantSubscriber;
import io.holdfast.redis.internal.safety.GrantConfirmations;
import io.holdfast.redis.internal.safety.KeyTracking;
import io.holdfast.redis.internal.safety.Quarantine;
import io.holdfast.redis.internal.safety.ReplicaConfirmation;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.ClusterTopology;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The operations of one back end: puts together the requests, the channel and the safety rules. */
public final class LockOperations {

    /** From here on, counters come too close to 2^53, where Lua's numbers lose digits. */
    private static final long FLOOR_LIMIT = (1L << 53) - (1L << 40);

    /** The default time limit of a lock client's request. */
    private static final Duration GIVE_BACK_LIMIT = Duration.ofSeconds(2);

    private final ExceptionTranslator failures;
    private final DriverClient driver;
    private final Topology topology;
    private final GrantSubscriber channel;
    private final LockRequests requests;
    private final LockReader reader;
    private final RenewalFanOut renewals;
    private final Quarantine quarantine;
    private final boolean grantsRuns;

    /** Null unless enabled. */
    private final @Nullable GrantConfirmations confirmations;

    /** Null unless enabled. */
    private final @Nullable KeyTracking tracking;

    /**
     * Runs on one driver. Connects nowhere yet.
     *
     * @param driver ends with this object
     * @param clientName unique among all clients of the servers
     */
    public LockOperations(BackendSettings settings, DriverClient driver, String clientName) {
        this.driver = driver;
        List<RedisURI> uris =
                settings.uris().stream().map(LettuceClient::copyOf).toList();
        failures = ExceptionTranslator.at(uris);
        topology = settings.isCluster()
                ? new ClusterTopology(driver, uris)
                : new SingleMasterTopology(driver, uris.get(0));
        ReplicaConfirmation confirmation = settings.confirmation();
        channel = new GrantSubscriber(
                driver,
                topology,
                settings.keyPrefix(),
                settings.claimTime(),
                clientName,
                failures,
                this::holderKey,
                this::giveBack);
        requests = new LockRequests(
                settings.keyPrefix(),
                settings.claimTime(),
                settings.tokensKept(),
                new QueueLimit(settings.maxWaiters(), failures.server()),
                channel::nameAt,
                channel::grantedInAnswer,
                settings.isCluster());
        grantsRuns = settings.grantsRuns();
        reader = new LockReader(topology, failures, settings.keyPrefix());
        confirmations =
                confirmation == null ? null : new GrantConfirmations(topology, requests, failures, confirmation);
        renewals = new RenewalFanOut(driver, failures, this::groupOf, this::renewals);
        tracking =
                settings.tracksKeys() ? new KeyTracking(topology, requests, driver::nanoTime, channel::changed) : null;
        driver.prepareBy(tracking == null ? channel : tracking.then(channel));
        quarantine = new Quarantine(topology, failures, settings.quarantine(), driver::nanoTime);
    }

    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        if (quarantine.isOff()) {
            return attempt(claim);
        }
        return Mono.defer(() -> {
            checkFloor(claim);
            return quarantine.guard(
                    requests.holderKey(claim), () -> requests.subject("acquire", claim), () -> attempt(claim));
        });
    }

    private static void checkFloor(LockClaim claim) {
        if (claim.tokenFloor() >= FLOOR_LIMIT) {
            throw new IllegalArgumentException("tokenFloor of lock '%s' must be below 2^53 - 2^40, was %d"
                    .formatted(claim.key().name(), claim.tokenFloor()));
        }
    }

    private Mono<LockAttempt> attempt(LockClaim claim) {
        LockClaim asking = grantsRuns || claim.client().isEmpty() ? claim : claim.withClient("");
        Mono<LockAttempt> attempt = send(() -> {
            checkFloor(claim);
            return requests.acquire(asking, channel.recipient(asking));
        });
        GrantConfirmations wanted = confirmations;
        Mono<LockAttempt> sure = wanted == null ? attempt : attempt.flatMap(answer -> wanted.confirmed(claim, answer));
        return tracking == null ? sure : sure.doOnNext(answer -> tracking.attemptAnswered(claim, answer));
    }

    public Mono<Renewal> renew(LockClaim claim) {
        return renewals(List.of(claim)).map(answers -> answers.get(0));
    }

    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        Mono<List<Renewal>> sent =
                send(() -> requests.adopt(claim, fencingToken)).map(List::of);
        return tracked(List.of(claim), sent).map(answers -> answers.get(0));
    }

    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        List<LockClaim> batch = List.copyOf(claims);
        if (batch.isEmpty()) {
            return Flux.empty();
        }
        Mono<List<Renewal>> answered = topology.hasSeveralMasters() ? renewals.send(batch) : renewals(batch);
        return answered.flatMapIterable(answers -> answers);
    }

    private int groupOf(LockClaim claim) {
        return topology.groupOf(holderKey(claim));
    }

    private String holderKey(LockClaim claim) {
        return requests.holderKey(claim);
    }

    private Mono<List<Renewal>> renewals(List<LockClaim> claims) {
        return tracked(claims, send(() -> requests.renew(claims)));
    }

    private Mono<List<Renewal>> tracked(List<LockClaim> claims, Mono<List<Renewal>> renewed) {
        KeyTracking wanted = tracking;
        return wanted == null ? renewed : renewed.doOnNext(answers -> wanted.renewed(claims, answers));
    }

    public Mono<Ownership> release(LockClaim claim) {
        KeyTracking tracked = tracking;
        if (tracked == null) {
            return send(() -> requests.release(claim));
        }
        return send(() -> {
                    tracked.ended(claim);
                    return requests.release(claim);
                })
                .doOnNext(answer -> tracked.released(claim, answer));
    }

    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return send(() -> requests.endRun(claim, number, served));
    }

    /**
     * Releases a grant for which no claim waits here, so it goes to the next waiter at once. This is the one place that
     * subscribes by itself. No lock client bounds this request, so it has a time limit of its own: on a connection that
     * hangs, other calls may wait for the script that it brings.
     */
    void giveBack(ChannelMessage message) {
        LockKeys keys = message.keys();
        if (keys != null) {
            // If it fails, the grant ends with its claim time.
            Disposable request = send(() -> requests.giveBack(keys, message.claimId(), message.attempt()))
                    .subscribe(ownership -> {}, error -> {});
            driver.later(GIVE_BACK_LIMIT, request::dispose);
        }
    }

    private <T> Mono<T> send(Supplier<ScriptRequest<T>> request) {
        return ScriptMono.of(topology, failures, request);
    }

    public Flux<LockHolder> holders(LockKey key) {
        return reader.holders(key);
    }

    /** The number of keys that the server watches for this client. For tests. */
    public int watchedKeys() {
        return tracking == null ? 0 : tracking.size();
    }

    /** The number of claims that are watched now. For tests. */
    public int watchCount() {
        return channel.watchCount();
    }

    public Flux<WatchSignal> watch(LockClaim claim) {
        Flux<WatchSignal> signals = channel.watch(claim);
        // A pushed grant shows neither how many replicas have it nor how old its server is. An attempt does.
        boolean isBelieved = confirmations == null && quarantine.isOff();
        Flux<WatchSignal> sure = isBelieved ? signals : signals.map(GrantConfirmations::withoutGrant);
        return tracking == null
                ? sure
                : sure.doOnSubscribe(begun -> tracking.watched(claim))
                        .doOnNext(signal -> tracking.signalled(claim, signal))
                        // A late push may have come after the release.
                        .doOnCancel(() -> tracking.ended(claim));
    }

    public Mono<Void> ping() {
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("", "ping");
        return Mono.defer(() -> topology.isClosed()
                        ? Mono.error(failures.closed(subject))
                        : Mono.fromFuture(topology::anyLink, true))
                .flatMap(link -> ServerQuery.send(link, commands -> commands.ping())
                        .doOnCancel(() -> link.doubt(link.ready(), () -> topology.suspect(link))))
                .onErrorMap(e -> !(e instanceof LockBackendException), e -> failures.of(subject, e))
                .then();
    }

    /** Refuses a lease that is longer than the quarantine. */
    public void checkLease(Duration lease) {
        quarantine.checkLease(lease);
    }

    public Mono<Void> close() {
        return driver.close();
    }
}
