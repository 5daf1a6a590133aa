package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import io.holdfast.redis.internal.call.PlainCall;
import io.holdfast.redis.internal.call.ScriptMono;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.TlsOptions;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.inspect.KeyScan;
import io.holdfast.redis.internal.inspect.LockReader;
import io.holdfast.redis.internal.inspect.ServerReports;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.topology.ClusterTopology;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockKind;
import io.holdfast.spi.Ownership;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A look into the locks of a deployment, for operators: the holders of a lock, since when and for how long, the waiters, the last
 * token. Looking writes nothing, ends no hold and serves no waiter. {@link #breakHold} is the one method that does. No lock of this
 * library depends on an inspector.
 *
 * <p>It is made by {@link RedisLockBackend.Builder#inspector()}, which gives it the address, TLS, driver resources and key
 * prefix of a back end. Its connection is its own, one for each master that is asked, made with the first command; so no
 * command of a lock waits behind one of these on the wire. The server, though, does one thing at a time: each command of
 * {@link #all} takes it about half a millisecond.
 *
 * <p>Everything here is cold: each subscription asks anew. Signals come on the driver's threads. A failure is a
 * {@link LockBackendException} that says what to do; a command that is not answered within the timeout of the address, 5 s by
 * default, fails so too. Nothing is retried. Thread-safe.
 *
 * <p>An ACL that is enough to look: {@code resetkeys ~<prefix>* resetchannels -@all +hello +auth +evalsha +eval +scan +info +time +get
 * +exists +hmget +zcard +zcount +zrange +llen +lrange}; with a database or client name in the URI, {@code +select} or {@code
 * +client|setname} too, and for a cluster {@code +cluster|slots +asking}. {@code +info} is for {@link #servers} only. {@link
 * #breakHold} needs the rights of a back end: see {@link RedisLockBackend}.
 *
 * <pre>{@code
 * RedisLockInspector inspector = RedisLockBackend.builder(uri).inspector();
 * Flux<String> slow = inspector.all()
 *         .filter(lock -> lock.waiterCount() > 100)
 *         .map(lock -> lock.name() + " is held by " + lock.holders());
 * }</pre>
 *
 * @see LockReport
 */
public final class RedisLockInspector implements LockInspector {

    /** So many locks are looked at in one call, so that the server is back after about half a millisecond. */
    private static final int LOCKS_PER_CALL = 50;

    private final ExceptionTranslator failures;
    private final LettuceClient lettuce;
    private final Topology topology;
    private final String keyPrefix;
    private final KeyScan walk;
    private final LockReader reader;
    private final LockRequests requests;

    /** Of all settings of a back end, those that concern where and what to look at. */
    RedisLockInspector(
            @Nullable ClientResources resources,
            TlsOptions tls,
            List<RedisURI> addresses,
            boolean isCluster,
            String keyPrefix,
            Duration claimTime) {
        List<RedisURI> uris = addresses.stream().map(LettuceClient::copyOf).toList();
        failures = ExceptionTranslator.at(uris);
        // There is no engine here to bound the commands.
        lettuce = LettuceClient.create(
                resources, tls, TimeoutOptions.enabled(uris.get(0).getTimeout()));
        topology = isCluster ? new ClusterTopology(lettuce, uris) : new SingleMasterTopology(lettuce, uris.get(0));
        this.keyPrefix = keyPrefix;
        walk = new KeyScan(keyPrefix);
        reader = new LockReader(topology, failures, keyPrefix);
        requests = new LockRequests(keyPrefix, claimTime, new QueueLimit(0, failures.server()), link -> "", isCluster);
    }

    /**
     * {@inheritDoc} With one command.
     *
     * @param name a lock name
     * @return one report each for the mutex, the read/write lock and the semaphore of that name, as far as the server knows
     *     anything of them, be it a counter or something foreign under one of their keys; empty when it knows nothing. All of
     *     the same instant
     * @throws IllegalArgumentException if it is no lock name
     */
    @Override
    public Flux<LockReport> inspect(String name) {
        List<LockKeys> locks =
                List.of(keys(LockKind.MUTEX, name), keys(LockKind.READ, name), keys(LockKind.SEMAPHORE, name));
        ExceptionTranslator.Subject subject =
                new ExceptionTranslator.Subject(name, "inspect lock '%s'".formatted(name));
        return reader.named(locks, subject).flatMapIterable(reports -> reports);
    }

    private LockKeys keys(LockKind kind, String name) {
        return LockKeys.of(keyPrefix, LockKey.of(kind, requireNonNull(name, "name")));
    }

    /**
     * Walks over all locks with the key prefix that are held, waited for or wanted, or have something foreign under their first
     * key. A lock that is free, of which only the counter is left, is passed over.
     *
     * <p>Lazy: a page of some hundred keys is asked for when its locks are wanted, with one {@code SCAN} and one call for each
     * fifty of locks in it; in a cluster, master by master, and one call for each slot on the page. After a cancel
     * nothing more is sent. All keys of the database are passed, those of others too, which takes long if there are millions.
     *
     * <p>This is no snapshot: each report is of its own instant. A lock that is held during the whole walk is reported, as a
     * rule once; the server may repeat some while its key space grows or shrinks. One that comes or goes meanwhile may be
     * reported or not.
     *
     * @return the locks, in no order
     */
    @Override
    public Flux<LockReport> all() {
        ExceptionTranslator.Subject subject =
                new ExceptionTranslator.Subject("", "inspect locks under '%s'".formatted(keyPrefix));
        return masters(subject)
                .concatMap(master -> walk.over(master).onErrorMap(error -> failure(subject, error)), 0)
                .concatMap(
                        page -> Flux.fromIterable(calls(page))
                                // One after the other: the server answers all commands that it has read from one
                                // client before it turns to other clients.
                                .concatMap(call -> look(call, subject), 0)
                                .flatMapIterable(reports -> reports),
                        0);
    }

    /** What may be in one script call: of one slot, and not too much. */
    private List<List<Map.Entry<LockKeys, KeyScan.Sighting>>> calls(Map<LockKeys, KeyScan.Sighting> page) {
        List<List<Map.Entry<LockKeys, KeyScan.Sighting>>> calls = new ArrayList<>();
        page.entrySet().stream()
                .collect(Collectors.groupingBy(
                        lock -> topology.groupOf(lock.getKey().holder())))
                .values()
                .forEach(group -> {
                    for (int from = 0; from < group.size(); from += LOCKS_PER_CALL) {
                        calls.add(group.subList(from, Math.min(group.size(), from + LOCKS_PER_CALL)));
                    }
                });
        return calls;
    }

    private Mono<List<LockReport>> look(
            List<Map.Entry<LockKeys, KeyScan.Sighting>> found, ExceptionTranslator.Subject subject) {
        return reader.met(
                found.stream().map(Map.Entry::getKey).toList(),
                found.stream().map(lock -> lock.getValue().word()).toList(),
                subject);
    }

    /**
     * {@inheritDoc} With {@link RedisLockBackend.Builder#lossByPush}, the holder of a mutex learns of it at once. One command.
     */
    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKeys keys = keys(requireNonNull(holder, "holder").kind(), lockName);
        return ScriptMono.of(topology, failures, () -> requests.breakHold(keys, holder.claimId()))
                .map(ownership -> ownership == Ownership.HELD);
    }

    /**
     * Asks the servers about themselves, with one {@code INFO} each: above all, for the eviction policy, which must be
     * {@code noeviction}.
     *
     * @return one report, in a cluster one for each master; a report that says so where the ACL forbids {@code INFO}
     */
    public Flux<ServerReport> servers() {
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("", "ask for INFO");
        return masters(subject).concatMap(master -> report(master).onErrorMap(error -> failure(subject, error)));
    }

    private static Mono<ServerReport> report(CommandLink master) {
        String server = ExceptionTranslator.at(List.of(master.uri())).server();
        return PlainCall.send(master, commands -> commands.info())
                .map(info -> ServerReports.of(server, info))
                .onErrorResume(KnownError::isForbidden, error -> Mono.just(ServerReports.forbidden(server)));
    }

    private Flux<CommandLink> masters(ExceptionTranslator.Subject subject) {
        return Mono.defer(() -> topology.isClosed()
                        ? Mono.error(failures.closed(subject))
                        : Mono.fromFuture(topology.allLinks()))
                .onErrorMap(error -> failure(subject, error))
                .flatMapIterable(masters -> masters);
    }

    private Throwable failure(ExceptionTranslator.Subject subject, Throwable error) {
        return error instanceof LockBackendException ? error : failures.of(subject, error);
    }

    /**
     * Closes the connections, and what was started for them. Shared driver resources stay. Begins when it is called. Idempotent.
     *
     * @return tells the end, and may be ignored
     */
    @Override
    public Mono<Void> close() {
        return lettuce.close();
    }
}
