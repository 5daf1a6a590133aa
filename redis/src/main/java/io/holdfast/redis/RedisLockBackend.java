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
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

// Longer than other files: half of it is the contract for users, and the options belong to the same type.

/**
 * Locks in one deployment of Redis, 6.2 or newer, or of Valkey: a standalone server, the master behind sentinels, or a cluster.
 *
 * <p>Waiters queue in the server, first come, first served; a release hands the lock to the next one and tells only that
 * client. Acquire and release of a free lock are one command each.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Each reader and each permit has a lease and a rising token of its own.
 * Readers share; a queued writer holds back later readers, and hands over to all of those that follow it at once. A claim of
 * a semaphore is judged by its own number of permits, and may take several; then it holds back those behind it until they are free.
 *
 * <p><b>Users of the same server</b> with rights to the channels, and to no key of the lock, can read the grants and publish what they
 * like. The server signs each grant for its client, so they cannot end, forge or lengthen a lease. They can make a claim that waits look
 * again, up to 100 times a second.
 *
 * <p><b>Keys</b>: {@code <prefix>{<lock name>}:mutex}, {@code :rw} or {@code :semaphore}, and {@code :queue}, {@code :waiters},
 * {@code :interest} after it; for a mutex {@code :gone}, for the others {@code :token}, {@code :gone:<id>} and {@code :holders}. Every one
 * of them expires. Channels:
 * {@code <prefix>client:<random>}, in a cluster followed by {@code :<host>:<port>} of the master, and by {@code ~<number>} once a
 * connection to it was given up; from Redis 7.0 on also by a hash tag in braces. An ACL that is enough: {@code resetkeys ~<prefix>* resetchannels &<prefix>* -@all +hello
 * +auth +ping +evalsha +eval +subscribe +unsubscribe +publish +pubsub|numsub +time +exists +del +get +set +hget +hmget +hset
 * +hdel +hlen +hrandfield +pexpire +pttl +zadd +zcard +zrem +zrange +zrank +zscore +zmscore +zrangebyscore +zremrangebyrank
 * +zrevrank +hsetnx +setrange +rpush +rpop +lpush +lpop +llen +lrange}; with a
 * database or client name in the URI, {@code +select} or {@code +client|setname} too, and for a cluster
 * {@code +cluster|slots +asking}, from Redis 7.0 on {@code +ssubscribe +spublish} as well.
 *
 * <p><b>Connections</b>: one, made with the first command; a second one for the channel when a claim first has to wait. In a
 * cluster, one for each master that is needed, and a second one for the channel at each master where a claim waits. All are our
 * own: the safety rules need client options that a borrowed client does not have. Nothing is replayed after a reconnect. A
 * connection on which a command is given up on, with nothing answered since it was sent, is replaced, in a cluster after a second at
 * least. While claims wait, some of their attempts ask for an echo on the channel, which is replaced when the answer comes and the echo does
 * not. The first two claims in a queue look once in a claim time, others once in a third of their lease: so a channel that is dead without
 * being closed costs a waiter up to the claim time.
 * Answers come on the driver's threads.
 *
 * <p><b>Sentinels</b>: commands and the channel are always at the master that the sentinels name, never at a replica. They
 * follow a failover, also when the old master hangs. Replication is asynchronous: a grant that the promoted replica missed is
 * lost, its holder learns of it by its next renewal, and another client may have the lock until then. {@link
 * Builder#confirmGrants} makes that rarer.
 *
 * <p><b>Cluster</b>: all keys of a lock are in one slot. While that slot is moved to another server, looks and releases fail
 * for the moment and are tried again, and renewals do not; waiters keep their places and look again at once, but one that is passed over
 * during the move is served later. {@link LockBackend#renewAll} sends one request for each slot; the claims of a master that fails, or
 * that answers 250 ms (an eighth of the lease, if that is less) later than another one, are {@link Renewal.Unknown}. A failover is as
 * behind sentinels, and concerns the locks of that master only. From Redis 7.0 on, messages go to the replicas of one master
 * ({@code SPUBLISH}). Before that, without the rights to it, or with RESP2, each message goes to every server.
 *
 * <p>The server must run with {@code maxmemory-policy noeviction}: an evicted lock would be granted again. A user with the
 * permission {@code +info}, which is optional, lets the back end look at that, once per connection, and warn.
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

    private RedisLockBackend(LockOperations operations) {
        this.operations = operations;
    }

    /**
     * A back end with the defaults and driver resources of its own.
     *
     * @param uri the server, or the sentinels and the name of their master
     * @return a back end that has not connected yet
     */
    public static RedisLockBackend create(RedisURI uri) {
        return builder(uri).build();
    }

    /**
     * A back end with the defaults on shared driver resources.
     *
     * @param resources stay the caller's: not shut down by {@link #close}
     * @param uri the server, or the sentinels and the name of their master
     * @return a back end that has not connected yet
     */
    public static RedisLockBackend create(ClientResources resources, RedisURI uri) {
        return builder(uri).resources(resources).build();
    }

    /**
     * Starts with the defaults.
     *
     * @param uri the server, or the sentinels and the name of their master; copied
     * @return a builder
     * @throws IllegalArgumentException if it names sentinels, but no master; or if a host or a master's name has a character that it cannot
     *     have, such as a part of a mistyped password; the message does not repeat it
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
     * Builds back ends that share driver resources of their own: one event loop in place of one for each. For the masters of a Redlock. The
     * resources end with the last of the back ends.
     *
     * @param builders one for each back end; one that was given {@link Builder#resources} keeps those
     * @return the back ends, in the same order, which connect nowhere yet
     */
    public static List<RedisLockBackend> buildTogether(List<Builder> builders) {
        List<Builder> all = List.copyOf(builders);
        int users = (int) all.stream().filter(it -> it.resources == null).count();
        OwnResources together = users == 0 ? null : new OwnResources(users);
        return all.stream().map(it -> it.build(together)).toList();
    }

    /**
     * A back end for a cluster, with the defaults and driver resources of its own.
     *
     * @param seeds servers of the cluster that are asked for the others; the first one's user, password and TLS settings are
     *     used for all, at each host that the cluster names
     * @return a back end that has not connected yet
     * @throws IllegalArgumentException if there is no seed, or one that is no host and port, or a database other than 0; a host that may
     *     be a part of a mistyped password is not repeated
     */
    public static RedisLockBackend cluster(Collection<RedisURI> seeds) {
        return clusterBuilder(seeds).build();
    }

    /**
     * Starts with the defaults, for a cluster.
     *
     * @param seeds as in {@link #cluster}; copied
     * @return a builder
     * @throws IllegalArgumentException if there is no seed, or one that is no host and port, or a database other than 0; a host that may
     *     be a part of a mistyped password is not repeated
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
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        return operations.renewAll(claims);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return operations.release(claim);
    }

    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(claim);
    }

    /**
     * {@inheritDoc} One command. It needs the rights {@code +zcount}, {@code +lrange} and {@code +llen}, which no other operation of a
     * read/write lock or a semaphore needs.
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
     * {@inheritDoc} A lease must not be longer than the {@link Builder#quarantine quarantine}, where there is one. One that is longer than a
     * hundred years of 365 days is kept, and answered, as that.
     */
    @Override
    public void checkLease(Duration lease) {
        operations.checkLease(lease);
    }

    @Override
    public Set<LockFeature> features() {
        return FEATURES;
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
        private int maxWaiters;
        private Duration quarantine = Duration.ZERO;
        private @Nullable ReplicaConfirmation confirmation;
        private boolean lossByPush;

        private Builder(List<RedisURI> uris, boolean isCluster) {
            this.uris = uris;
            this.isCluster = isCluster;
        }

        /**
         * Sets whose certificates are trusted on connections with TLS, which an address that begins with {@code rediss://} asks
         * for.
         *
         * @param authorities initialised; default: those that the JVM trusts, read from its file before the first connection, by a thread of its own
         * @return this
         */
        public Builder trust(TrustManagerFactory authorities) {
            this.authorities = requireNonNull(authorities, "authorities");
            return this;
        }

        /**
         * Sets the certificate that a server with {@code tls-auth-clients} asks for.
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
         * Shares driver resources: event loops, timer, name resolution, and the pauses between reconnects, which are up to
         * 30 s by the driver's defaults (ours are up to 1 s). Back ends with the same resources use the same event loop: the masters of a
         * Redlock should have the same, see {@link RedisLockBackend#buildTogether}.
         *
         * @param shared stay the caller's: not shut down by {@link RedisLockBackend#close}
         * @return this
         */
        public Builder resources(ClientResources shared) {
            resources = requireNonNull(shared, "shared");
            return this;
        }

        /**
         * Sets what every key and channel begins with.
         *
         * @param prefix no whitespace and no braces, may be empty; default {@code holdfast:}
         * @return this
         * @throws IllegalArgumentException if it has any of those
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
         * Sets how long a waiter that was made the holder may take to confirm it. A waiter that has just died costs the next
         * one this time at most.
         *
         * @param limit 10 ms to 1 minute; default 2 s
         * @return this
         * @throws IllegalArgumentException if it is out of that range
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
         * Limits the queue of each lock. An acquisition that would make it longer is refused with {@link
         * io.holdfast.LockQueueFullException} and leaves nothing at the server. By default there is no limit: a waiter takes about 250
         * bytes of the server, and its client's {@link io.holdfast.LockClient.Builder#maxWaiters} bounds what one process asks for.
         *
         * <p>The server counts the waiters of all clients, and each client's own limit decides for its own acquisitions. Waiters of a
         * dead client count until the lock is next released, or a refused acquisition finds them: each looks at 64 places in the
         * queue. A waiter that was set aside because its client was not reachable gets its place back even if the queue is full.
         *
         * @param limit at least 1
         * @return this
         * @throws IllegalArgumentException if it is less
         */
        public Builder maxWaiters(int limit) {
            if (limit < 1) {
                throw new IllegalArgumentException("maxWaiters must be at least 1, was " + limit);
            }
            maxWaiters = limit;
            return this;
        }

        /**
         * Makes a grant count only when so many replicas of the master have it, which {@code WAIT} tells. Off by default: a
         * failover can then forget a lock that was granted a moment before.
         *
         * <p>When too few have it in time, the attempt fails with a transient {@link io.holdfast.LockBackendException} that says
         * how many there were; the engine looks again or withdraws. A grant waits for the confirmation that is under way, if
         * any, and for its own, so for up to twice {@code within}: choose at most half of the client's
         * {@code operationTimeout}, which cuts off what takes longer. The time spent comes off the lease.
         *
         * <p><b>What it does not give.</b> It is not consensus. A replica that confirmed may not be the one that is promoted, unless
         * all had to confirm. It has the grant in memory, not on disk. Renewals are not confirmed: a promoted
         * replica may end a lock earlier than its holder was told, and the holder learns of it by its next renewal. A master
         * that was cut off, and does not know it yet, may go on granting with replicas on its side. Fence your writes.
         *
         * <p><b>Cost</b>: a second connection for each master, and two commands, a renewal and WAIT, for each acquisition that
         * waits alone; acquisitions at one time share them. A waiter whose turn comes looks first, which is one command and one
         * round trip more. An ACL needs {@code +wait}.
         *
         * @param replicas how many, at least 1
         * @param within how long they have, 1 ms to 1 minute
         * @return this
         * @throws IllegalArgumentException if one is out of its range
         */
        public Builder confirmGrants(int replicas, Duration within) {
            confirmation = new ReplicaConfirmation(replicas, within);
            return this;
        }

        /**
         * Makes an inspector of the locks of such a back end, for operators. It connects on its own, and nowhere yet. Of the
         * options that are about taking locks, only {@link #claimTime} matters to it, and only to {@link RedisLockInspector#breakHold}.
         *
         * @return an inspector; its {@link RedisLockInspector#close} is the caller's to call
         */
        public RedisLockInspector inspector() {
            return new RedisLockInspector(resources, tls(), uris, isCluster, keyPrefix, claimTime);
        }

        /**
         * Lets the server tell at once when another client deletes or changes the key of a held mutex, or it expires or is
         * evicted, or the server is flushed ({@code CLIENT TRACKING}). Off by default: a holder learns of it by its next
         * renewal then.
         *
         * <p>What is told is verified by reading the key: only a lock that is not held any more is renewed, and that answer decides.
         * After a lost connection all held locks are read, 500 with one command. Not told, and found by the next renewal as before: what this client's own commands cause, such as
         * the eviction of one lock by the grant of another; and the locks that several hold, whose keys each holder changes.
         *
         * <p><b>Cost</b>: two commands, {@code CLIENT CACHING} and {@code EVAL}, after a grant and after each batch of renewals;
         * no caller waits for them. The server remembers a key and a client for each held mutex. When that table is full
         * ({@code tracking-table-max-keys}, a million by default), it forgets some: it tells of them as if they had changed, which
         * costs a read each, at most ten in a lease are watched again; or not at all, when it was our own command that filled it.
         *
         * <p>The server has to speak RESP3. Where it does not, or the ACL forbids tracking, every operation fails with a {@link
         * io.holdfast.LockBackendException} that says so.
         *
         * @param isWanted whether to do so
         * @return this
         */
        public Builder lossByPush(boolean isWanted) {
            lossByPush = isWanted;
            return this;
        }

        /**
         * Keeps a server that was started less than this time ago from granting. Meanwhile each attempt fails with a transient {@link
         * io.holdfast.LockBackendException}, that of a claim which held the lock before included. It names the server, how long it has been
         * up, and how long the quarantine still lasts. So {@code tryAcquire} fails and is not empty, and {@code acquire} waits until the
         * quarantine is over, or {@code waitTimeout}. The server is not asked meanwhile, and pushed grants are not believed. Renewals,
         * releases and {@code ping} go on. A client whose leases are longer than this time is refused when it is made. For the masters of a Redlock: a master that came back without its locks must
         * not vote for longer than the longest lease of all clients, so all of them have to set this, to at least that.
         *
         * <p>The server's uptime is read once per connection with {@code INFO}, again after a reconnect, and rounded down by a
         * second. It is measured by the wall clock of the server, and it shows neither a flush, nor the promotion of a replica,
         * nor data that was restored from an old file: those must not happen to such a server. A user without {@code +info}
         * has no quarantine, and one warning says so.
         *
         * @param time zero for none, the default; at most 1 day
         * @return this
         * @throws IllegalArgumentException if it is out of that range, or not zero for a cluster, whose failovers it cannot see
         */
        public Builder quarantine(Duration time) {
            requireNonNull(time, "time");
            if (time.isNegative() || time.compareTo(Duration.ofDays(1)) > 0) {
                throw new IllegalArgumentException("quarantine must be from zero to 1 day, was " + time);
            }
            if (isCluster && !time.isZero()) {
                throw new IllegalArgumentException(
                        "quarantine must be zero for a cluster: the uptime of a promoted replica tells nothing. Was "
                                + time);
            }
            quarantine = time;
            return this;
        }

        /**
         * Makes the back end. Connects nowhere yet.
         *
         * @return a back end
         */
        public RedisLockBackend build() {
            return build(null);
        }

        private RedisLockBackend build(@Nullable OwnResources together) {
            LettuceClient lettuce = LettuceClient.create(
                    resources, together, tls(), lossByPush ? ProtocolVersion.RESP3 : null, new EvictionCheck()::look);
            return build(lettuce, UUID.randomUUID().toString());
        }

        /**
         * Over another driver.
         *
         * @param driver ends with the back end
         * @param clientName unique among all clients of the servers
         */
        RedisLockBackend build(DriverClient driver, String clientName) {
            BackendSettings settings = new BackendSettings(
                    uris, isCluster, keyPrefix, claimTime, maxWaiters, quarantine, confirmation, lossByPush);
            return new RedisLockBackend(new LockOperations(settings, driver, clientName));
        }
    }
}
