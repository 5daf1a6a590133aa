package io.holdfast.spring;

import io.holdfast.Backoff;
import io.holdfast.LockOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationUnit;

/**
 * The properties of an application about its locks. Options that are null have the defaults of the library. A duration without a unit is in
 * seconds.
 *
 * @param enabled Whether the application gets a client from these properties, with its health and its meters.
 * @param backend Where locks are kept.
 * @param leaseDuration How long the server keeps a lock without a renewal. It is also how long a crash can keep the lock. A number without
 *     a unit is in seconds.
 * @param waitTimeout How long an acquisition may take in all. Zero makes one attempt. Without a limit by default. A number without a unit
 *     is in seconds.
 * @param autoRenew Whether leases are renewed while they are held.
 * @param maxHoldTime How long a lease may be held in all. Without a limit by default. A number without a unit is in
 *     seconds.
 * @param reentrant Whether withLock inside the same lock gets the same lease. If not, it fails.
 * @param localHandOver Whether waiters of this application for the same lock share one claim at the server, and hand the lock off in
 *     memory. For work under 1 ms on Redis or Redlock. No effect with ZooKeeper, etcd and databases.
 * @param operationTimeout The time limit of one request to the back end. After it, the outcome is unknown. By default a quarter of the
 *     lease duration, at most 2 s. A number without a unit is in seconds.
 * @param warmUpTimeout How long the start of the application may wait until the client has connected and loaded its classes. After it, the start
 *     goes on. Zero turns the warm-up off. A number without a unit is in seconds.
 * @param maxWaiters How many acquisitions of this client may be under way, over all its locks. One more fails at once. Without a limit by
 *     default.
 * @param owner The label of this client, which inspectors show beside its claims: 1 to 48 letters, digits, dots, underscores, colons and
 *     hyphens. By default spring.application.name, the host and the process id.
 * @param deliverOn The threads that emit leases, losses and results, so work under a lock begins on them: auto, threads, virtual-threads,
 *     event-loop, or the name of a bean of type Scheduler. With auto, virtual threads if spring.threads.virtual.enabled is true, else
 *     threads. With event-loop, work must not block.
 * @param deliverThreads The highest number of threads, for deliver-on threads.
 * @param locks Options of some locks in place of those above. The key is the name of a lock, or the beginning of names and an asterisk, in
 *     brackets: holdfast.locks.[stock/*].lease-duration. A name has precedence, then the longest beginning.
 * @param redis One Redis deployment.
 * @param redlock A majority of independent Redis servers.
 * @param zookeeper ZooKeeper.
 * @param etcd etcd.
 * @param r2dbc The database of the application's ConnectionFactory.
 */
@ConfigurationProperties("holdfast")
record HoldfastProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Backend backend,

        @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("30s")
        Duration leaseDuration,

        @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration waitTimeout,
        @DefaultValue("true") boolean autoRenew,
        @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration maxHoldTime,
        @DefaultValue("true") boolean reentrant,
        @DefaultValue("false") boolean localHandOver,
        @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration operationTimeout,

        @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("10s")
        Duration warmUpTimeout,

        @Nullable Integer maxWaiters,
        @Nullable String owner,
        @DefaultValue(Delivery.AUTO) String deliverOn,
        @DefaultValue("256") int deliverThreads,
        @DefaultValue Map<String, Profile> locks,
        @DefaultValue Redis redis,
        @DefaultValue Redlock redlock,
        @DefaultValue Zookeeper zookeeper,
        @DefaultValue Etcd etcd,
        @DefaultValue R2dbc r2dbc) {

    /** Where locks are kept. */
    enum Backend {
        MEMORY("io.holdfast:holdfast-core"),
        REDIS("io.holdfast:holdfast-redis"),
        REDLOCK("io.holdfast:holdfast-redlock and io.holdfast:holdfast-redis"),
        ZOOKEEPER("io.holdfast:holdfast-zookeeper"),
        ETCD("io.holdfast:holdfast-etcd and io.etcd:jetcd-core"),
        R2DBC("io.holdfast:holdfast-r2dbc");

        private final String artifacts;

        Backend(String artifacts) {
            this.artifacts = artifacts;
        }

        String artifacts() {
            return artifacts;
        }

        /** Returns the value as it is written in properties. */
        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    LockOptions options() {
        LockOptions.Builder options = LockOptions.builder()
                .leaseDuration(leaseDuration)
                .autoRenew(autoRenew)
                .reentrant(reentrant);
        if (waitTimeout != null) {
            options = options.waitTimeout(waitTimeout);
        }
        if (maxHoldTime != null) {
            options = options.maxHoldTime(maxHoldTime);
        }
        return options.build();
    }

    /** Returns the longest lease duration in these properties. */
    Duration longestLease() {
        return Stream.concat(
                        Stream.of(leaseDuration),
                        locks.values().stream().map(Profile::leaseDuration).filter(Objects::nonNull))
                .max(Duration::compareTo)
                .orElseThrow();
    }

    /**
     * Options of some locks. Options that are not set are as for all locks.
     *
     * @param leaseDuration How long the server keeps a lock without a renewal. A number without a unit is in seconds.
     * @param waitTimeout How long an acquisition may take in all. Zero makes one attempt. A number without a unit is in seconds.
     * @param autoRenew Whether leases are renewed while they are held.
     * @param maxHoldTime How long a lease may be held in all. A number without a unit is in seconds.
     * @param minHoldTime The shortest time for which the server keeps the lock. A number without a unit is in seconds.
     * @param reentrant Whether withLock inside the same lock gets the same lease. If not, it fails.
     * @param backoff Pauses between attempts.
     */
    record Profile(
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration leaseDuration,
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration waitTimeout,
            @Nullable Boolean autoRenew,
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration maxHoldTime,
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration minHoldTime,
            @Nullable Boolean reentrant,
            @Nullable Pauses backoff) {

        /**
         * Pauses between attempts, each twice as long as the one before.
         *
         * @param first The first pause. A number without a unit is in seconds.
         * @param max The longest pause. A number without a unit is in seconds.
         * @param jitter The largest share by which each pause is shortened at random: 0 to 1.
         */
        record Pauses(
                @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("20ms")
                Duration first,

                @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("1s")
                Duration max,

                @DefaultValue("0.5") double jitter) {}

        /** Returns these options, with the others for options that are not set. */
        LockOptions over(LockOptions others) {
            LockOptions.Builder options = others.toBuilder();
            options = set(leaseDuration, options, LockOptions.Builder::leaseDuration);
            options = set(waitTimeout, options, LockOptions.Builder::waitTimeout);
            options = set(autoRenew, options, LockOptions.Builder::autoRenew);
            options = set(maxHoldTime, options, LockOptions.Builder::maxHoldTime);
            options = set(minHoldTime, options, LockOptions.Builder::minHoldTime);
            options = set(reentrant, options, LockOptions.Builder::reentrant);
            if (backoff != null) {
                options = options.backoff(
                        Backoff.exponential(backoff.first(), backoff.max()).withJitter(backoff.jitter()));
            }
            return options.build();
        }

        private static <T> LockOptions.Builder set(
                @Nullable T value,
                LockOptions.Builder options,
                BiFunction<LockOptions.Builder, T, LockOptions.Builder> setter) {
            return value == null ? options : setter.apply(options, value);
        }
    }

    /**
     * One Redis deployment.
     *
     * @param uri A standalone server, or the sentinels and their master, such as redis://localhost:6379 or
     *     redis-sentinel://host1,host2#master. Without uri and clusterUris, the locks use the server of spring.data.redis.
     * @param clusterUris Some servers of a cluster, from which the client learns the others.
     * @param keyPrefix The beginning of every key and channel.
     * @param keepTokens How long the server keeps the last fencing token of a free lock, about 185 bytes for each name. Longer than the
     *     server's clock is ever set back. A number without a unit is in seconds.
     * @param ssl TLS.
     * @param shareClientResources Whether the connections use the ClientResources bean of the application.
     */
    record Redis(
            @Nullable String uri,
            @DefaultValue List<String> clusterUris,
            @DefaultValue("holdfast:") String keyPrefix,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("2h")
            Duration keepTokens,

            @DefaultValue Ssl ssl,
            @DefaultValue("false") boolean shareClientResources) {

        /** Leaves the address out, which may contain a password. */
        @Override
        public String toString() {
            return "Redis[keyPrefix=%s, keepTokens=%s]".formatted(keyPrefix, keepTokens);
        }
    }

    /**
     * A majority of independent Redis servers.
     *
     * @param uris The independent servers: an odd number, at least three.
     * @param quarantine How long a server must have run before it grants locks. At least the longest lease of all clients of these servers,
     *     including locks with options of their own. Zero only if each server writes every grant to its disk before it answers. By default
     *     the lease duration. A number without a unit is in seconds.
     * @param keyPrefix The beginning of every key and channel.
     * @param keepTokens How long the server keeps the last fencing token of a free lock, about 185 bytes for each name. Longer than the
     *     server's clock is ever set back. A number without a unit is in seconds.
     * @param ssl TLS.
     * @param shareClientResources Whether the connections use the ClientResources bean of the application.
     */
    record Redlock(
            @DefaultValue List<String> uris,
            @DurationUnit(ChronoUnit.SECONDS) @Nullable Duration quarantine,
            @DefaultValue("holdfast:") String keyPrefix,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("2h")
            Duration keepTokens,

            @DefaultValue Ssl ssl,
            @DefaultValue("false") boolean shareClientResources) {

        /** Leaves the addresses out, which may contain passwords. */
        @Override
        public String toString() {
            return "Redlock[servers=%d, quarantine=%s, keyPrefix=%s, keepTokens=%s]"
                    .formatted(uris.size(), quarantine, keyPrefix, keepTokens);
        }
    }

    /**
     * TLS.
     *
     * @param bundle The name of an SSL bundle. With it, every connection uses TLS, even if the address says otherwise.
     */
    record Ssl(@Nullable String bundle) {}

    /**
     * ZooKeeper.
     *
     * @param connectString Host and port of each server, separated by commas. Without it, the locks use the application's own
     *     CuratorFramework.
     * @param root The node that contains all locks.
     * @param sessionTimeout How long the session outlives the application. It is also how long a crash can keep a lock. A number without a
     *     unit is in seconds.
     * @param authScheme How the application authenticates itself to the servers. By default digest, if there are credentials.
     * @param auth Credentials of that scheme, for digest user:password. Not for the application's own CuratorFramework, which has
     *     credentials of its own.
     * @param acl Which clients may read and change the nodes. By default creator if there are credentials. Else the ACLProvider of the
     *     Curator client decides; without one, the nodes are open.
     */
    record Zookeeper(
            @Nullable String connectString,
            @DefaultValue("/holdfast") String root,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("30s")
            Duration sessionTimeout,

            @Nullable String authScheme,
            @Nullable String auth,
            @Nullable Acl acl) {

        /** Which clients may read and change the nodes. */
        enum Acl {
            /** All clients that authenticate themselves in the same way as this application. */
            CREATOR,
            /** All clients that can connect. */
            OPEN
        }

        /** Leaves the credentials out. */
        @Override
        public String toString() {
            return "Zookeeper[root=%s, sessionTimeout=%s, acl=%s]".formatted(root, sessionTimeout, acl);
        }
    }

    /**
     * etcd.
     *
     * @param endpoints The members, such as http://host:2379, or https://host:2379 for TLS. Without them, the locks use the application's
     *     own Client of jetcd.
     * @param keyPrefix The beginning of every key.
     * @param presence How long the waiters and new holders of an application that vanished keep their places. At least 2 s. A number without
     *     a unit is in seconds.
     * @param username The user of the starter's own client.
     * @param password The password of that user.
     * @param ssl TLS.
     */
    record Etcd(
            @DefaultValue List<String> endpoints,
            @DefaultValue("holdfast/") String keyPrefix,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("6s")
            Duration presence,

            @Nullable String username,
            @Nullable String password,
            @DefaultValue Ssl ssl) {

        /** Leaves addresses and credentials out. */
        @Override
        public String toString() {
            return "Etcd[keyPrefix=%s, presence=%s]".formatted(keyPrefix, presence);
        }
    }

    /**
     * The database of the application's ConnectionFactory.
     *
     * @param schema The schema that has Holdfast's tables and functions. By default the search path of the user.
     * @param claimTime How long a waiter may take to confirm a grant. A number without a unit is in seconds.
     * @param replyTimeout How long the database may take to answer, and to open a connection. A number without a unit is in seconds.
     */
    record R2dbc(
            @Nullable String schema,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("2s")
            Duration claimTime,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("2s")
            Duration replyTimeout) {}
}
