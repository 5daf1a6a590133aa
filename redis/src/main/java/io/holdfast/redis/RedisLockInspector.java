package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.redis.internal.call.ScriptMono;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.connection.TlsOptions;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.inspect.KeyScan;
import io.holdfast.redis.internal.inspect.LockReader;
import io.holdfast.redis.internal.inspect.ServerReports;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.topology.ClusterTopology;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows the locks of a deployment to operators: the holders of a lock, since when and for how long, the waiters, the
 * last token. Its reading methods write nothing, end no hold and serve no waiter. Only {@link #breakHold} does. No lock
 * of this library depends on an inspector.
 *
 * <p>{@link RedisLockBackend.Builder#inspector()} makes it, with the address, TLS, driver resources and key prefix of a
 * back end. It has connections of its own, one for each master that it reads, opened with the first command. So no
 * command of a lock waits behind one of its commands on the wire. But a server does one thing at a time: each command
 * of {@link #all} takes it about half a millisecond.
 *
 * <p>All its publishers are cold: each subscription sends new commands. Signals come on the driver's threads. A failure
 * is a {@link LockBackendException} that says what to do. A command without an answer within the timeout of the
 * address, 5 s by default, fails in the same way. The inspector retries nothing. Thread-safe.
 *
 * <p>An ACL that is enough for reading: {@code resetkeys ~<prefix>* resetchannels -@all +hello +auth +evalsha +eval +script|load
 * +scan +info +time +get +exists +hmget +zcard +zcount +zrange +llen}. With a database or client name in the
 * URI, add {@code +select} or {@code +client|setname}, and for a cluster {@code +cluster|slots +asking}. Only {@link
 * #servers} needs {@code +info}. {@link #breakHold} needs the rights of a back end: see {@link RedisLockBackend}.
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

    /** How many locks one call reads, so that the server is busy for about half a millisecond only. */
    private static final int LOCKS_PER_CALL = 50;

    private final ExceptionTranslator failures;
    private final LettuceClient lettuce;
    private final Topology topology;
    private final String keyPrefix;
    private final KeyScan walk;
    private final LockReader reader;
    private final LockRequests requests;

    /** Takes the settings of a back end that say where and what to read. */
    RedisLockInspector(
            @Nullable ClientResources resources,
            TlsOptions tls,
            UnaryOperator<SocketOptions.Builder> sockets,
            List<RedisURI> addresses,
            boolean isCluster,
            String keyPrefix,
            Duration claimTime) {
        List<RedisURI> uris = addresses.stream().map(LettuceClient::copyOf).toList();
        failures = ExceptionTranslator.at(uris);
        // No engine bounds the commands here.
        TimeoutOptions timeouts = TimeoutOptions.enabled(uris.get(0).getTimeout());
        lettuce = LettuceClient.create(resources, null, tls, sockets, timeouts, link -> {});
        topology = isCluster ? new ClusterTopology(lettuce, uris) : new SingleMasterTopology(lettuce, uris.get(0));
        this.keyPrefix = keyPrefix;
        walk = new KeyScan(keyPrefix);
        reader = new LockReader(topology, failures, keyPrefix);
        requests = new LockRequests(
                keyPrefix,
                claimTime,
                LuaScript.USUAL_TOKEN_TIME,
                new QueueLimit(0, failures.server()),
                link -> "",
                grant -> {},
                isCluster);
    }

    /**
     * {@inheritDoc} Sends one command.
     *
     * @param name a lock name
     * @return one report each for the mutex, the read/write lock and the semaphore of that name, if the server has
     *     anything under their keys: a counter, or a foreign value. Empty if it has nothing. All reports are of the
     *     same instant
     * @throws IllegalArgumentException if the text is not a lock name
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
     * Reads all locks with the key prefix that are held, have waiters or interested clients, or have a foreign value
     * under their first key. It skips a free lock of which only the counter is left.
     *
     * <p>Lazy: it requests a page of some hundred keys when the subscriber requests locks. A page costs one {@code
     * SCAN} and one call for each fifty locks in it. In a cluster, it reads master by master, with one call for each
     * slot on the page. After a cancel it sends nothing more. The scan passes all keys of the database, also those of
     * other applications, which takes long if there are millions.
     *
     * <p>This is not a snapshot: each report is of its own instant. A lock that is held during the whole scan is
     * reported, usually once; the server may repeat some locks while its key space grows or shrinks. A lock that
     * appears or disappears meanwhile may be reported or not.
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
                                // One after the other: the server answers all commands that it has read from one client
                                // before it turns to other clients.
                                .concatMap(call -> read(call, subject), 0)
                                .flatMapIterable(reports -> reports),
                        0);
    }

    /** Groups locks for one script call each: of one slot, and not too many. */
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

    private Mono<List<LockReport>> read(
            List<Map.Entry<LockKeys, KeyScan.Sighting>> found, ExceptionTranslator.Subject subject) {
        return reader.met(
                found.stream().map(Map.Entry::getKey).toList(),
                found.stream().map(lock -> lock.getValue().word()).toList(),
                subject);
    }

    /**
     * {@inheritDoc} With {@link RedisLockBackend.Builder#lossByPush}, the holder of a mutex learns of it at once. Sends
     * one command.
     */
    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        LockKeys keys = keys(requireNonNull(holder, "holder").kind(), lockName);
        return ScriptMono.of(topology, failures, () -> requests.breakHold(keys, holder.claimId()))
                .map(ownership -> ownership == Ownership.HELD);
    }

    /**
     * Reads the state of the servers, with one {@code INFO} each: above all the eviction policy, which must be {@code
     * noeviction}.
     *
     * @return one report, in a cluster one for each master. If the ACL forbids {@code INFO}, the report says so
     */
    public Flux<ServerReport> servers() {
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("", "read INFO");
        return masters(subject).concatMap(master -> report(master).onErrorMap(error -> failure(subject, error)));
    }

    private static Mono<ServerReport> report(CommandLink master) {
        String server = ExceptionTranslator.at(List.of(master.uri())).server();
        return ServerQuery.send(master, commands -> commands.info())
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
     * Closes the connections, and the resources that were started for them. Shared driver resources stay open. Closing
     * begins with the call. Idempotent.
     *
     * @return completes at the end of the closing; may be ignored
     */
    @Override
    public Mono<Void> close() {
        return lettuce.close();
    }
}
