package io.holdfast.redis;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockHolder;
import io.holdfast.redis.internal.address.AddressCheck;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.OwnResources;
import io.holdfast.redis.internal.connection.TlsOptions;
import io.holdfast.redis.internal.operation.BackendSettings;
import io.holdfast.redis.internal.operation.LockOperations;
import io.holdfast.redis.internal.safety.EvictionCheck;
import io.holdfast.redis.internal.safety.ReplicaConfirmation;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.LockRun;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

// Longer than other files: half of it is the contract for users, and the options belong to the same type.

/**
 * Locks in one deployment of Redis, 6.2 or newer, or of Valkey: a standalone server, the master behind sentinels, or a
 * cluster.
 *
 * <p>Waiters queue in the server, first come, first served. A release hands the lock to the next waiter and notifies
 * only that waiter's client. Acquire and release of a free lock are one command each.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Each reader and each permit has a lease and a rising token of its
 * own. Readers share the lock. A queued writer holds back later readers. When it releases, it hands over to all readers
 * that are next in the queue at once. A claim of a semaphore may take several permits. While they are not free, it
 * holds back the claims behind it.
 *
 * <p><b>Other users of the same server</b> may have rights to the channels, and to no key of the lock. They can read
 * the grants and publish any message. The server signs each grant for its client, so they cannot end, forge or lengthen
 * a lease. They can make a waiter send an extra attempt, up to 100 times a second.
 *
 * <p><b>Runs</b>: consecutive waiters of one client get a mutex by one grant, and the client passes it on without a request.
 * Not with {@link Builder#confirmGrants}, {@link Builder#quarantine} or {@link Builder#lossByPush}: there each grant needs another look.
 *
 * <p><b>Keys</b>: {@code <prefix>{<lock name>}:mutex}, {@code :rw} or {@code :semaphore}, and the same with {@code
 * :queue}, {@code :claims}, {@code :held}, {@code :gone}, {@code :interest} or {@code :aside} appended. Every key expires.
 *
 * <p><b>Channels</b>: {@code <prefix>client:<random>}. In a cluster, {@code :<host>:<port>} of the master follows.
 * From Redis 7.0 on, a hash tag in braces follows that.
 *
 * <p><b>ACL</b>: this one is enough: {@code resetkeys ~<prefix>* resetchannels &<prefix>* -@all +hello +auth +ping
 * +evalsha +eval +script|load +subscribe +unsubscribe +publish +pubsub|numsub +time +exists +del +get +set +hget +hmget +hset +hdel
 * +hlen +hsetnx +hrandfield +pexpire +pttl +zadd +zcard +zrem +zrange +zrank +zscore +zmscore +zrangebyscore +zrangebylex
 * +zrandmember +zremrangebyrank +zremrangebyscore +setrange +rpush +ltrim +lpos +llen +lrange}. With a database or client name in the URI, add
 * {@code +select} or {@code +client|setname}. Without {@code +script|load}, the first call to a server that lacks a script
 * takes two round trips more. For a cluster, add {@code +cluster|slots +asking}, and from Redis 7.0 on
 * {@code +ssubscribe +spublish}.
 *
 * <p><b>Connections</b>: the client opens one with the first command, for commands and messages; in a cluster, one for
 * each master that it needs. The server must speak RESP3, as must a proxy before it. The back end makes its connections
 * itself: the safety rules need client options that a borrowed client does not have. The client replays nothing after a
 * reconnect. If a command times out and nothing was answered since it was sent, the client replaces the connection; in a
 * cluster, after a second at least. The first claim of each client in a queue sends an attempt once in a claim time, the others once
 * in a third of their lease. So a connection that is dead without being closed costs a waiter up to the claim time, and
 * the time limit of its attempt.
 * Answers come on the driver's threads.
 *
 * <p><b>Sentinels</b>: the client is at the master that the sentinels name, never at a replica. It follows a
 * failover, also when the old master hangs. While no sentinel answers, it connects to the last master again: one that
 * was restarted empty, before the sentinels demote it, may grant a lock that another client holds at the promoted one.
 * Replication is asynchronous: a grant that the promoted replica missed is lost. Its holder learns of that by its next
 * renewal, and another client may have the lock until then. {@link Builder#confirmGrants} makes that rarer.
 *
 * <p><b>Cluster</b>: all keys of a lock are in one slot. While that slot moves to another server, attempts and releases
 * fail for a moment and are repeated; renewals do not fail. Waiters keep their places and send an attempt at once. A
 * waiter that is passed over during the move is served later. {@link LockBackend#renewAll} sends one request for each
 * slot. The claims of a master that fails, or that answers 250 ms (an eighth of the lease, if that is less) later than
 * another one, are {@link Renewal.Unknown}. A failover works as behind sentinels, and concerns the locks of that master
 * only. From Redis 7.0 on, messages go to the replicas of one master ({@code SPUBLISH}). Before that, or without the
 * rights to it, each message goes to every server.
 *
 * <p><b>Eviction</b>: the server must run with {@code maxmemory-policy noeviction}: an evicted lock would be granted
 * again. With the optional permission {@code +info}, the back end checks the policy once per connection, and warns.
 */
public final class RedisLockBackend implements LockBackend {

    private static final Set<LockFeature> FEATURES = Set.of(
            LockFeature.FIFO,
            LockFeature.READ_WRITE,
            LockFeature.SEMAPHORE,
            LockFeature.MANY_PERMITS,
            LockFeature.TOKEN_FLOOR,
            LockFeature.MIN_HOLD,
            LockFeature.HOLDERS,
            LockFeature.HAND_ON,
            LockFeature.DOWNGRADE);

    private final LockOperations operations;

    private final Set<LockFeature> features;

    private RedisLockBackend(LockOperations operations, Set<LockFeature> features) {
        this.operations = operations;
        this.features = features;
    }

    /**
     * Makes a back end with the defaults and driver resources of its own.
     *
     * @param uri the server, or the sentinels and the name of their master
     * @return a back end that has not connected yet
     */
    public static RedisLockBackend create(RedisURI uri) {
        return builder(uri).build();
    }

    /**
     * Starts with the defaults.
     *
     * @param uri the server, or the sentinels and the name of their master; copied
     * @return a builder
     * @throws IllegalArgumentException if the URI names sentinels, but no master; or if a host or a master's name has a
     *     character that it cannot have, because it is a part of a mistyped password, for example. The message does not
     *     repeat that name
     */
    public static Builder builder(RedisURI uri) {
        requireNonNull(uri, "uri");
        AddressCheck.require("uri", uri);
        if (!uri.getSentinels().isEmpty()
                && (uri.getSentinelMasterId() == null
                        || uri.getSentinelMasterId().isBlank())) {
            throw new IllegalArgumentException("uri must name the sentinels' master: sentinelMasterId is missing");
        }
        return new Builder(List.of(LettuceClient.copyOf(uri)), false);
    }

    /**
     * Builds back ends that share driver resources: one event loop for all instead of one for each. For the masters of
     * a Redlock. Code that blocks on that loop stops the renewals of all of them, see {@link Builder#resources}. The
     * resources end with the last of the back ends.
     *
     * @param builders one for each back end; a builder with {@link Builder#resources} keeps its own
     * @return the back ends, in the same order; none has connected yet
     */
    public static List<RedisLockBackend> buildTogether(List<Builder> builders) {
        List<Builder> all = List.copyOf(builders);
        int users = (int) all.stream().filter(it -> it.resources == null).count();
        OwnResources together = users == 0 ? null : new OwnResources(users);
        return all.stream().map(it -> it.build(together)).toList();
    }

    /**
     * Makes a back end for a cluster, with the defaults and driver resources of its own.
     *
     * @param seeds servers of the cluster; the client requests the map of the cluster from them. The user, password and
     *     TLS settings of the first one are used for every host that the cluster names
     * @return a back end that has not connected yet
     * @throws IllegalArgumentException if there is no seed, or if a seed is not a host and a port, or names a database
     *     other than 0. The message does not repeat a host that may be a part of a mistyped password
     */
    public static RedisLockBackend cluster(Collection<RedisURI> seeds) {
        return clusterBuilder(seeds).build();
    }

    /**
     * Starts with the defaults, for a cluster.
     *
     * @param seeds as in {@link #cluster}; copied
     * @return a builder
     * @throws IllegalArgumentException if there is no seed, or if a seed is not a host and a port, or names a database
     *     other than 0. The message does not repeat a host that may be a part of a mistyped password
     */
    public static Builder clusterBuilder(Collection<RedisURI> seeds) {
        if (seeds.isEmpty()) {
            throw new IllegalArgumentException("seeds must name at least one server of the cluster");
        }
        for (RedisURI seed : seeds) {
            if (seed.getHost() == null || !seed.getSentinels().isEmpty()) {
                throw new IllegalArgumentException("seeds must be hosts and ports, not sentinels or sockets");
            }
            AddressCheck.require("a seed", seed);
            if (seed.getDatabase() != 0) {
                throw new IllegalArgumentException(
                        "seeds must use database 0, the only one of a cluster, was " + seed.getDatabase());
            }
        }
        return new Builder(seeds.stream().map(LettuceClient::copyOf).toList(), true);
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return operations.tryAcquire(claim);
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return operations.renew(claim);
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return operations.adopt(claim, fencingToken);
    }

    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return operations.renewAll(claims);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return operations.release(claim);
    }

    @Override
    public Mono<LockRun.End> endRun(LockClaim claim, long number, int served) {
        return operations.endRun(claim, number, served);
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(claim);
    }

    /**
     * {@inheritDoc} Sends one command. It needs the rights {@code +zcount} and {@code +llen}, which no
     * other operation of a read/write lock or a semaphore needs.
     */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return operations.holders(requireNonNull(key, "key"));
    }

    @Override
    public Mono<Void> ping() {
        return operations.ping();
    }

    /**
     * {@inheritDoc} With a {@link Builder#quarantine quarantine}, a lease must not be longer than that. The server
     * keeps a lease of more than a hundred years of 365 days as a hundred years, and the answer says so.
     */
    @Override
    public void checkLease(Duration lease) {
        operations.checkLease(lease);
    }

    @Override
    public Set<LockFeature> features() {
        return features;
    }

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public Mono<Void> close() {
        return operations.close();
    }

    /** For tests. */
    LockOperations operations() {
        return operations;
    }

    /** Options of a {@link RedisLockBackend}. Not thread-safe. */
    public static final class Builder {

        private final List<RedisURI> uris;
        private final boolean isCluster;
        private @Nullable TrustManagerFactory authorities;
        private @Nullable KeyManagerFactory identity;
        private List<String> tlsProtocols = List.of();
        private List<String> tlsCiphers = List.of();
        private @Nullable ClientResources resources;
        private String keyPrefix = "holdfast:";
        private Duration claimTime = Duration.ofSeconds(2);
        private Duration tokensKept = LuaScript.USUAL_TOKEN_TIME;
        private UnaryOperator<SocketOptions.Builder> sockets = UnaryOperator.identity();
        private int maxWaiters;
        private @Nullable Duration quarantine;
        private @Nullable ReplicaConfirmation confirmation;
        private boolean lossByPush;

        private Builder(List<RedisURI> uris, boolean isCluster) {
            this.uris = uris;
            this.isCluster = isCluster;
        }

        /**
         * Sets the authorities whose certificates the client trusts on TLS connections. An address that begins with
         * {@code rediss://} requests TLS.
         *
         * @param authorities initialised; default: the authorities that the JVM trusts. A thread of its own reads them
         *     from the JVM's file before the first connection
         * @return this
         */
        public Builder trust(TrustManagerFactory authorities) {
            this.authorities = requireNonNull(authorities, "authorities");
            return this;
        }

        /**
         * Sets the certificate that a server with {@code tls-auth-clients} requires.
         *
         * @param identity initialised; default: none
         * @return this
         */
        public Builder identity(KeyManagerFactory identity) {
            this.identity = requireNonNull(identity, "identity");
            return this;
        }

        /**
         * Restricts the versions of TLS. A name that the JVM does not know fails the connection.
         *
         * @param names as the JVM writes them, such as {@code TLSv1.3}; default: empty, which leaves it to the JVM; copied
         * @return this
         */
        public Builder tlsProtocols(Collection<String> names) {
            tlsProtocols = List.copyOf(names);
            return this;
        }

        /**
         * Restricts the ciphers of TLS. A name that the JVM does not know fails the connection.
         *
         * @param names as the JVM writes them, such as {@code TLS_AES_256_GCM_SHA384}; default: empty, which leaves it to the JVM; copied
         * @return this
         */
        public Builder tlsCiphers(Collection<String> names) {
            tlsCiphers = List.copyOf(names);
            return this;
        }

        private TlsOptions tls() {
            return new TlsOptions(authorities, identity, tlsProtocols, tlsCiphers);
        }

        /**
         * Shares driver resources: event loops, timer, name resolution, and the pauses between reconnects. By the
         * driver's defaults these pauses are up to 30 s; with the back end's own resources they are up to 1 s. Back
         * ends with the same resources use the same event loop. So work under a lock of one of them that blocks there
         * stops the renewals of all: build their clients with {@link io.holdfast.LockClient.Builder#deliverOn}. Share
         * them between the masters of a Redlock, see {@link RedisLockBackend#buildTogether}.
         *
         * @param shared owned by the caller: {@link RedisLockBackend#close} does not shut them down
         * @return this
         */
        public Builder resources(ClientResources shared) {
            resources = requireNonNull(shared, "shared");
            return this;
        }

        /**
         * Changes the options of the sockets. Connecting may take 5 s, and then the handshake as long as the address allows.
         * The kernel sends keepalives after 15 s without traffic, and closes the connection 15 s later if no answer came. With
         * Netty's epoll transport, it also closes a connection on which nothing that was sent is acknowledged for 30 s ({@code
         * TCP_USER_TIMEOUT}). With {@link #resources} of the caller, there are keepalives with the times of the operating
         * system, and no {@code TCP_USER_TIMEOUT}. These times do not have to fit the lease: the client replaces a connection
         * without answers by itself.
         *
         * @param change gets the options that the back end would use, when that is built. With an option that the
         *     transport does not have, no connection can be made
         * @return this
         */
        public Builder socketOptions(UnaryOperator<SocketOptions.Builder> change) {
            sockets = requireNonNull(change, "change");
            return this;
        }

        /**
         * Sets the prefix of every key and channel.
         *
         * @param prefix no whitespace and no braces, may be empty; default {@code holdfast:}
         * @return this
         * @throws IllegalArgumentException if it has whitespace or braces
         */
        public Builder keyPrefix(String prefix) {
            requireNonNull(prefix, "prefix");
            boolean isClean = prefix.chars()
                    .noneMatch(c -> c == '{' || c == '}' || Character.isWhitespace(c) || Character.isISOControl(c));
            if (!isClean) {
                throw new IllegalArgumentException(
                        "keyPrefix must have no whitespace and no braces, was '%s'".formatted(prefix));
            }
            keyPrefix = prefix;
            return this;
        }

        /**
         * Sets how long a waiter may take to confirm a grant. All waiters of one client that has vanished together cost
         * the next living waiter twice this time at most, and those of {@code k} such clients {@code k + 1} times. The
         * waiters of a killed process cost nothing, because the server knows that its connections have ended.
         *
         * @param limit 10 ms to 1 minute; default 2 s
         * @return this
         * @throws IllegalArgumentException if the limit is out of that range
         */
        public Builder claimTime(Duration limit) {
            requireNonNull(limit, "limit");
            if (limit.compareTo(Duration.ofMillis(10)) < 0 || limit.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("claimTime must be from 10 ms to 1 minute, was " + limit);
            }
            claimTime = limit;
            return this;
        }

        /**
         * Sets how long the server keeps the last fencing token of a lock that nobody holds. Each name that was used costs
         * the server about 185 bytes for this time, and the bytes of a name beyond 16: names used per second × seconds kept
         * × bytes per name.
         *
         * <p>While the token is kept, the next one is higher even if the server's clock was set back. The same holds after a
         * failover to a replica whose clock is behind. Afterwards only the clock makes tokens rise. So the time has to be
         * longer than any such difference. It counts from the end of the last lease, or from the moment that the token
         * stands for, if that is later. The client that acquires or renews a lock sets the time for it. Give all clients
         * of a server the same.
         *
         * @param time rounded up to whole seconds; 1 minute to 365 days; default 2 hours
         * @return this
         * @throws IllegalArgumentException if the time is out of that range. A shorter time does not cover the step by
         *     which a clock service corrects a clock, nor the longest {@link #claimTime}: a later waiter must still find
         *     which client did not confirm its grant
         */
        public Builder keepTokens(Duration time) {
            requireNonNull(time, "time");
            if (time.compareTo(Duration.ofMinutes(1)) < 0 || time.compareTo(Duration.ofDays(365)) > 0) {
                throw new IllegalArgumentException(
                        "keepTokens must be from 1 minute to 365 days, was %s: without its last token, a lock has lower tokens after its server's clock was set back"
                                .formatted(time));
            }
            tokensKept = Duration.ofSeconds(time.plusSeconds(1).minusNanos(1).toSeconds());
            return this;
        }

        /**
         * Limits the queue of each lock. The server refuses an acquisition that would make the queue longer, with
         * {@link io.holdfast.LockQueueFullException}, and keeps nothing of it. By default there is no limit: a waiter
         * takes about 250 bytes of the server, and its client's {@link io.holdfast.LockClient.Builder#maxWaiters}
         * bounds the waiters of one process.
         *
         * <p>The server counts the waiters of all clients, and applies the limit of the client that sends the
         * acquisition. Members of the run that has the lock do not count, since the server does not know which of them
         * were served: so up to 63 more may wait. Waiters of a dead client count until the next release of the lock, or until refused
         * acquisitions find them: one in eight looks for dead ones among the waiters, and drops up to 64. A waiter that was set aside because its
         * client was not reachable gets its place back even if the queue is full.
         *
         * @param limit at least 1
         * @return this
         * @throws IllegalArgumentException if the limit is less than 1
         */
        public Builder maxWaiters(int limit) {
            if (limit < 1) {
                throw new IllegalArgumentException("maxWaiters must be at least 1, was " + limit);
            }
            maxWaiters = limit;
            return this;
        }

        /**
         * Makes a grant count only when this many replicas of the master have it; the command {@code WAIT} reports that
         * number. Off by default: a failover can then forget a lock that was granted a moment before.
         *
         * <p>If too few replicas confirm in time, the attempt fails with a transient {@link
         * io.holdfast.LockBackendException} that reports how many confirmed. The engine then sends another attempt or
         * withdraws the claim. A grant waits for the confirmation that is under way, if any, and for its own, so for up
         * to twice {@code within}. Choose at most half of the client's {@code operationTimeout}, which cuts off what
         * takes longer. The time spent comes off the lease.
         *
         * <p><b>What it does not give.</b> It is not consensus. A replica that confirmed may not be the one that is
         * promoted, unless all had to confirm. A replica has the grant in memory, not on disk. Renewals are not
         * confirmed: a promoted replica may end a lock earlier than the server promised its holder. The holder learns
         * of that by its next renewal. A master that was cut off, and does not know it yet, may go on granting with
         * replicas on its side. Fence your writes.
         *
         * <p><b>Cost</b>: a second connection for each master, and two commands, a renewal and WAIT, for each
         * acquisition that waits alone; simultaneous acquisitions share them. A waiter whose turn comes sends an
         * attempt first: one command and one round trip more. An ACL needs {@code +wait}.
         *
         * @param replicas how many, at least 1
         * @param within how long they have, 1 ms to 1 minute
         * @return this
         * @throws IllegalArgumentException if one of them is out of its range
         */
        public Builder confirmGrants(int replicas, Duration within) {
            confirmation = new ReplicaConfirmation(replicas, within);
            return this;
        }

        /**
         * Makes an inspector of the locks of this deployment, for operators. The inspector has connections of its own,
         * and has not connected yet. Of the options about taking locks, it uses only {@link #claimTime}, and only in
         * {@link RedisLockInspector#breakHold}.
         *
         * @return an inspector; the caller must call its {@link RedisLockInspector#close}
         */
        public RedisLockInspector inspector() {
            return new RedisLockInspector(resources, tls(), sockets, uris, isCluster, keyPrefix, claimTime);
        }

        /**
         * Lets the server signal the loss of a held mutex at once ({@code CLIENT TRACKING}): another client deletes or
         * changes the key, the key expires or is evicted, or the server is flushed. Off by default: the holder then
         * learns of the loss by its next renewal.
         *
         * <p>The client verifies each signal by reading the key. It renews only a lock that is not held any more, and
         * the answer to that renewal decides. After a lost connection, the client reads the keys of all held locks, 500
         * with one command. The server does not signal a change that this client's own commands cause, such as the
         * eviction of one lock by the grant of another. It does not signal locks with several holders either: each
         * holder changes their keys. The next renewal finds both.
         *
         * <p><b>Cost</b>: two commands, {@code CLIENT CACHING} and {@code EVAL}, after a grant and after each batch of
         * renewals. No caller waits for them. The server remembers a key and a client for each held mutex. When that
         * table is full ({@code tracking-table-max-keys}, a million by default), the server forgets some keys. It
         * signals them as if they had changed, which costs a read each; the client watches a key again at most ten
         * times in a lease. It does not signal them at all if the client's own command filled the table.
         *
         * <p>If the ACL forbids tracking, every operation fails with a {@link io.holdfast.LockBackendException} that says
         * so.
         *
         * @param isWanted whether the server signals losses
         * @return this
         */
        public Builder lossByPush(boolean isWanted) {
            lossByPush = isWanted;
            return this;
        }

        /**
         * Keeps a server from granting for this time after its start. During that time each attempt fails with a
         * transient {@link io.holdfast.LockBackendException}, also that of a claim which held the lock before. The
         * exception names the server, its uptime, and the rest of the quarantine. So {@code tryAcquire} fails instead
         * of completing empty, and {@code acquire} waits until the end of the quarantine or of {@code waitTimeout}. The
         * client sends no attempt meanwhile, and does not trust pushed grants. Renewals, releases and {@code ping} go
         * on. A lock client with leases longer than this time cannot be built.
         *
         * <p>This is for the masters of a Redlock: a master that restarted without its locks must not vote until the
         * longest lease of all clients is over. So all clients have to set this, to at least that lease. Set zero if
         * the server keeps its locks over a restart ({@code appendonly yes}, {@code appendfsync always}). A Redlock
         * warns when it is built over masters for which this is not set.
         *
         * <p>The client reads the server's uptime once per connection with {@code INFO}, again after a reconnect, and
         * rounds it down by a second. The server measures its uptime by its wall clock. The uptime shows neither a
         * flush, nor the promotion of a replica, nor data that was restored from an old file: none of these may happen
         * to such a server. A user without {@code +info} has no quarantine, and one warning says so.
         *
         * @param time zero for none; at most 1 day; default: not set, and none
         * @return this
         * @throws IllegalArgumentException if the time is out of that range, or not zero for a cluster, whose failovers
         *     the uptime does not show
         */
        public Builder quarantine(Duration time) {
            requireNonNull(time, "time");
            if (time.isNegative() || time.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("quarantine must be from zero to 1 day, was " + time);
            }
            if (isCluster && !time.isZero()) {
                throw new IllegalArgumentException(
                        "quarantine must be zero for a cluster: the uptime of a promoted replica does not show the failover. Was "
                                + time);
            }
            quarantine = time;
            return this;
        }

        /**
         * Makes the back end, which has not connected yet.
         *
         * @return a back end
         */
        public RedisLockBackend build() {
            return build(null);
        }

        private RedisLockBackend build(@Nullable OwnResources together) {
            // The engine bounds every operation.
            TimeoutOptions none =
                    TimeoutOptions.builder().timeoutCommands(false).build();
            LettuceClient lettuce =
                    LettuceClient.create(resources, together, tls(), sockets, none, new EvictionCheck()::check);
            return build(lettuce, UUID.randomUUID().toString());
        }

        /**
         * Builds the back end over another driver.
         *
         * @param driver ends with the back end
         * @param clientName unique among all clients of the servers
         */
        RedisLockBackend build(DriverClient driver, String clientName) {
            BackendSettings settings = new BackendSettings(
                    uris,
                    isCluster,
                    keyPrefix,
                    claimTime,
                    tokensKept,
                    maxWaiters,
                    quarantine == null ? Duration.ZERO : quarantine,
                    confirmation,
                    lossByPush);
            Set<LockFeature> features = EnumSet.copyOf(FEATURES);
            if (quarantine != null) {
                features.add(LockFeature.SAFE_RESTART);
            }
            if (settings.grantsRuns()) {
                features.add(LockFeature.RUNS);
            }
            return new RedisLockBackend(
                    new LockOperations(settings, driver, clientName), Collections.unmodifiableSet(features));
        }
    }
}
