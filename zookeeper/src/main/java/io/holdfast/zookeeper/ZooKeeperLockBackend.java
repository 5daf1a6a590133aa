package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.zookeeper.internal.client.AccessRights;
import io.holdfast.zookeeper.internal.client.QueueLimit;
import io.holdfast.zookeeper.internal.operation.LockOperations;
import io.holdfast.zookeeper.internal.operation.ReplaceableParts;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.zookeeper.common.PathUtils;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

// Longer than other files: half of it is the contract for users, and the options belong to the same type.

/**
 * Locks in ZooKeeper, on the session of a client that is yours. Tested with 3.9.5.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
 * }</pre>
 *
 * <p>A claim is an ephemeral node with a number, in the queue of its lock; the first one has the lock. The back end remembers the nodes of
 * the queues that it uses. Acquire is a creation, and a list when the number of the new node does not tell that no other client came in
 * between; release is a deletion. The first waiter of each queue watches the node in front of it, so a release wakes one client. Within one
 * back end the next claim holds as soon as the release is asked for. Nothing blocks: all requests go through the asynchronous calls of
 * ZooKeeper's own client, and Curator gives only the session.
 *
 * <p><b>How long a lease is valid</b> is the session's affair, not the claim's: between 0.45 and 0.63 of the negotiated session
 * time-out from each transaction that a majority of the servers has acknowledged, and a third as long as the session was found a moment ago.
 * When a lease begins, 7/24 of the time-out or more is left of that. {@link io.holdfast.LockOptions}' lease duration does not change it. To be
 * sure of an idle session the back end sends a {@code sync} each sixth of its time-out, or a transaction that changes nothing while one of its
 * claims is next in line. A session that was silent for most of its time-out grants nothing for a third of it; acquisitions wait, and a single
 * attempt fails as transient. A holder that dies keeps the lock until its session times out.
 *
 * <p><b>Fencing token</b>: the transaction (czxid) that created the node. It rises over all locks as long as the ensemble keeps its data,
 * and starts again when that is wiped.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Readers in a row hold together; a queued writer holds back later readers. A claim of
 * a semaphore is judged by its own number of permits, and may take several; then it holds back those behind it until they are free.
 *
 * <p><b>When the connection is lost</b>, leases stay valid until their local deadline, which comes before the servers can give the lock to
 * somebody else; connected again in time and in the same session, they go on. {@link Builder#failFast} ends them at once instead. When the
 * session ends, all its locks are lost, and its waiters begin again at the end of the queue.
 *
 * <p><b>When the owner of the client closes it</b>, waiters end at once, and so does each later operation, with a {@link
 * LockBackendException} that is not transient.
 *
 * <p><b>How many may wait</b> for one lock is limited by what the driver can list, see {@link Builder#maxWaiters}. One more is refused with
 * {@link io.holdfast.LockQueueFullException}. Waiters rely on watches: they change nothing while they wait, and read once in a session
 * time-out or less often.
 *
 * <p><b>Nodes</b>: {@code <namespace>/<root>/mutex|rw|semaphore/<encoded name>/<claim>}. What is above the claims are containers, which the
 * servers remove some time after they are empty. No other program may change them. Their access rights are those of the client's {@code
 * ACLProvider}: see {@link Builder#acl}.
 *
 * <p>The client is borrowed: it is never closed here. Answers and signals come on the threads of the scheduler, never on ZooKeeper's event
 * thread. Thread-safe.
 */
public final class ZooKeeperLockBackend implements LockBackend {

    private static final Set<LockFeature> FEATURES = Set.of(
            LockFeature.FIFO,
            LockFeature.READ_WRITE,
            LockFeature.SEMAPHORE,
            LockFeature.MANY_PERMITS,
            LockFeature.HOLDERS,
            LockFeature.DOWNGRADE);

    private final LockOperations operations;

    private ZooKeeperLockBackend(Builder builder) {
        operations = builder.operations();
    }

    /**
     * A back end with the defaults.
     *
     * @param client started before the first lock is used; its namespace is used; stays the caller's
     * @return a back end that has not sent anything yet
     */
    public static ZooKeeperLockBackend over(CuratorFramework client) {
        return builder(client).build();
    }

    /**
     * Starts with the defaults.
     *
     * @param client as in {@link #over}
     * @return a builder
     */
    public static Builder builder(CuratorFramework client) {
        requireNonNull(client, "client");
        return new Builder(() -> client);
    }

    /**
     * Starts with the defaults, on a client that another library makes when it likes.
     *
     * @param clients asked whenever a session is looked for, on a thread that may block. While it returns null, operations fail with a
     *     {@link LockBackendException} that says so. When it returns another client than before, the back end moves to that client's session.
     * @return a builder
     */
    public static Builder builder(Supplier<? extends @Nullable CuratorFramework> clients) {
        return new Builder(requireNonNull(clients, "clients"));
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        requireNonNull(claim, "claim");
        return operations.acquire(claim);
    }

    @Override
    public Mono<Renewal> renew(LockClaim claim) {
        return renewAll(List.of(claim))
                .single()
                .flatMap(answer -> answer instanceof Renewal.Unknown it ? Mono.error(it.failure()) : Mono.just(answer));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Some thousand of them are one transaction, which changes nothing.
     */
    @Override
    public Flux<Renewal> renewAll(List<LockClaim> claims) {
        List<LockClaim> batch = List.copyOf(claims);
        return operations.outside(operations.renew(batch)).flatMapIterable(answers -> answers);
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        requireNonNull(claim, "claim");
        return operations.release(claim);
    }

    /**
     * {@inheritDoc}
     *
     * <p>{@code Armed} comes at once, on the subscribing thread, and later signals on the scheduler. Fails when the back end is closed.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(claim);
    }

    /**
     * {@inheritDoc}
     *
     * <p>One {@code sync}, one list, and a read for each holder. For how long a claim has held, and until when its session lives, is not known.
     */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return operations.holders(requireNonNull(key, "key"));
    }

    @Override
    public Mono<Void> ping() {
        return operations.outside(operations.ping());
    }

    /**
     * All but {@link LockFeature#TOKEN_FLOOR}, since the store gives the tokens, and {@link LockFeature#MIN_HOLD}: the nodes of a client are
     * deleted with its session, so that no lock outlives its client.
     *
     * @return first come first served, read/write locks, semaphores, holders, writers that become readers
     */
    @Override
    public Set<LockFeature> features() {
        return FEATURES;
    }

    @Override
    public String name() {
        return "zookeeper";
    }

    /**
     * Gives up all claims, and waits up to two seconds for that. The client stays open. What could not be deleted by then is deleted as soon
     * as a server is reached in the same session; after that the back end stops listening to the client. Begins when it is called.
     * Idempotent.
     *
     * @return tells the end, and may be ignored
     */
    @Override
    public Mono<Void> close() {
        return operations.close();
    }

    /** What is held or queued or being given up, a line each; for tests. */
    Mono<List<String>> contents() {
        return operations.contents();
    }

    int watchCount() {
        return operations.watchCount();
    }

    /** Options of a {@link ZooKeeperLockBackend}. Not thread-safe. */
    public static final class Builder {

        private final Supplier<? extends @Nullable CuratorFramework> clients;
        private String root = "/holdfast";
        private boolean failFast;
        private int maxWaiters = QueueLimit.OF_THE_BUFFER;
        private @Nullable ACLProvider acl;
        private Scheduler scheduler = Schedulers.parallel();
        private Scheduler mayBlock = Schedulers.boundedElastic();
        private ReplaceableParts parts = ReplaceableParts.REAL;

        private Builder(Supplier<? extends @Nullable CuratorFramework> clients) {
            this.clients = clients;
        }

        /**
         * Sets the node under which all locks are, below the namespace of the Curator client.
         *
         * @param path absolute, not {@code /} itself and nothing under {@code /zookeeper}; default {@code /holdfast}
         * @return this
         * @throws IllegalArgumentException if it is not such a path
         */
        public Builder root(String path) {
            PathUtils.validatePath(path);
            if (path.equals("/") || path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
                throw new IllegalArgumentException(
                        "root must be a node that is free for locks, was '%s'".formatted(path));
            }
            root = path;
            return this;
        }

        /**
         * Sets the access rights of the nodes that are made, parents included. All clients that use the same locks need create, read, write
         * and delete.
         *
         * @param provider asked for each path, as the server knows it; on any thread, so it must not block; default: the {@code
         *     ACLProvider} of the Curator client. A client without one of its own lets all that can connect do everything; the back end warns
         *     of that once.
         * @return this
         */
        public Builder acl(ACLProvider provider) {
            acl = requireNonNull(provider, "provider");
            return this;
        }

        /**
         * Sets how many may wait for one lock, of all clients. One more is refused with {@link io.holdfast.LockQueueFullException}. One
         * holder is not counted; each further reader, or holder of a permit, counts as a waiter.
         *
         * <p>Many clients that enter at the same moment can exceed the limit for the time of a request. Those at the end of the queue then
         * leave it.
         *
         * @param waiters at least 1; by default, and at the most, as many as the driver can list: some 13 000 with the default {@code
         *     jute.maxbuffer} of 1 MB
         * @return this
         * @throws IllegalArgumentException if it is less than 1
         */
        public Builder maxWaiters(int waiters) {
            if (waiters < 1) {
                throw new IllegalArgumentException("maxWaiters must be at least 1, was %d".formatted(waiters));
            }
            maxWaiters = waiters;
            return this;
        }

        /**
         * Sets whether leases are lost as soon as the connection is. By default they live until their local deadline, unless the
         * connection comes back in time: an ensemble that elects a new leader interrupts all its clients for a moment.
         *
         * @param immediately true to lose them at once, with {@link io.holdfast.LossReason#DISCONNECTED}
         * @return this
         */
        public Builder failFast(boolean immediately) {
            failFast = immediately;
            return this;
        }

        /**
         * Sets where answers and signals come, and the work of the back end is done.
         *
         * @param threads its {@code now(NANOSECONDS)} is monotonic; stays the caller's; default {@link Schedulers#parallel()}
         * @return this
         */
        public Builder scheduler(Scheduler threads) {
            scheduler = requireNonNull(threads, "threads");
            return this;
        }

        /** Where sessions are looked for; for tests. */
        @CanIgnoreReturnValue
        Builder mayBlock(Scheduler threads) {
            mayBlock = threads;
            return this;
        }

        /** For simulations of mistakes. */
        @CanIgnoreReturnValue
        Builder parts(ReplaceableParts made) {
            parts = made;
            return this;
        }

        /**
         * Makes the back end.
         *
         * @return it has not sent anything yet
         */
        public ZooKeeperLockBackend build() {
            return new ZooKeeperLockBackend(this);
        }

        /**
         * Makes a look into the locks under the {@link #root}, for operators. It borrows the client as a back end does; close it before the client. To
         * break a hold it deletes the node of the claim. Its holder learns of that by its watch, which is set 50 to 100 ms after the grant, or by its
         * next renewal.
         *
         * @return it has not sent anything yet
         */
        public LockInspector inspector() {
            return new ZooKeeperLockInspector(operations());
        }

        private LockOperations operations() {
            AccessRights rights = new AccessRights(acl);
            return new LockOperations(rights.inheritedFrom(clients), options(rights), scheduler, mayBlock);
        }

        private LockOperations.Options options(AccessRights rights) {
            return new LockOperations.Options(root, rights, failFast, maxWaiters, Duration.ofSeconds(2), parts);
        }
    }
}
