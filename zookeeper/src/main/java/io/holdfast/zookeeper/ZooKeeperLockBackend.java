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

// This file is longer than others: half of it is the contract for users, and the options belong to the same type.

/**
 * Keeps locks in ZooKeeper. It uses the session of a client that you own. Tested with 3.9.5.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(ZooKeeperLockBackend.over(curator));
 * }</pre>
 *
 * <p>A claim is an ephemeral node with a number, in the queue of its lock. The claim whose node is first has the lock. The back end
 * remembers the nodes of the queues that it uses. An acquisition creates a node. It also lists the queue, unless the number of the new node
 * shows that no other client came in between. A release deletes the node. The first waiter of each queue watches the node in front of it,
 * so a release wakes one client. Within one back end, the next claim holds the lock as soon as the release is requested. No call blocks:
 * all requests use the asynchronous calls of ZooKeeper's own client. Curator provides only the session.
 *
 * <p><b>How long a lease is valid</b> depends on the session, not on the claim. It is valid for between 0.45 and 0.63 of the negotiated
 * session time-out, counted from each transaction that a majority of the servers has acknowledged. Right after the session was found, it is
 * a third. When a lease begins, at least 7/24 of the time-out is left. {@link io.holdfast.LockOptions}' lease duration does not change
 * this. To keep an idle session proved, the back end sends a {@code sync} each sixth of the time-out. While one of its claims is next in
 * line, it sends a transaction that changes nothing instead. A session that was silent for most of its time-out grants no lock for a third
 * of the time-out. During that time acquisitions wait, and a single attempt fails as transient. If a holder dies, the lock is free when its
 * session times out.
 *
 * <p><b>Fencing token</b>: the transaction (czxid) that created the node. It rises across all locks as long as the ensemble keeps its data.
 * It starts again if the data is wiped.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Adjacent readers hold the lock together. A queued writer holds back later readers. A
 * claim of a semaphore may take several permits. While it waits for them, it holds back the claims behind it.
 *
 * <p><b>When the connection is lost</b>, leases stay valid until their local deadline. That deadline comes before the servers can give the
 * lock to another client. If the client reconnects in time and in the same session, the leases go on. With {@link Builder#failFast} they
 * end at once. When the session ends, all its locks are lost, and its waiters start again at the end of the queue.
 *
 * <p><b>When the owner of the client closes it</b>, waiters and all later operations fail at once, with a {@link LockBackendException} that
 * is not transient.
 *
 * <p><b>How many may wait</b> for one lock is limited by the length of the list that the driver can read, see {@link Builder#maxWaiters}.
 * Beyond that, a claim fails with {@link io.holdfast.LockQueueFullException}. Waiters rely on watches. They write nothing while they wait,
 * and read at most once in a session time-out.
 *
 * <p><b>Nodes</b>: {@code <namespace>/<root>/mutex|rw|semaphore/<encoded name>/<claim>}. The nodes above the claims are containers. The
 * servers remove a container some time after it is empty. No other program may change these nodes. Their access rights come from the
 * client's {@code ACLProvider}, see {@link Builder#acl}.
 *
 * <p>The back end borrows the client and never closes it. It emits answers and signals on the threads of the scheduler, never on
 * ZooKeeper's event thread. Thread-safe.
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
     * Returns a back end with the defaults.
     *
     * @param client must be started before the first lock is used; the back end uses its namespace and never closes it
     * @return a back end that has not sent anything yet
     */
    public static ZooKeeperLockBackend over(CuratorFramework client) {
        return builder(client).build();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param client as in {@link #over}
     * @return a builder
     */
    public static Builder builder(CuratorFramework client) {
        requireNonNull(client, "client");
        return new Builder(() -> client);
    }

    /**
     * Returns a builder with the defaults, for a client that another library creates later.
     *
     * @param clients called whenever the back end needs a session, on a thread that may block. While it returns null, operations fail with
     *     a {@link LockBackendException} that says so. When it returns a different client, the back end moves to that client's session.
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
     * <p>One transaction, which changes nothing, renews up to some thousand claims.
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
     * <p>Emits {@code Armed} at once, on the subscribing thread, and later signals on the scheduler. Fails when the back end is closed.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return operations.watch(claim);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Sends one {@code sync}, one list, and a read for each holder. ZooKeeper does not report how long a claim has held the lock, nor
     * when its session ends.
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
     * {@return {@link LockFeature#FIFO}, {@link LockFeature#READ_WRITE}, {@link LockFeature#SEMAPHORE}, {@link LockFeature#MANY_PERMITS},
     * {@link LockFeature#HOLDERS} and {@link LockFeature#DOWNGRADE}} The servers make the tokens, and delete the nodes of a client with its
     * session: so no floor is possible, and no lock outlives its client.
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
     * Releases and withdraws all claims, and waits up to two seconds for that. The client stays open. Nodes that could not be deleted by
     * then are deleted as soon as a server is reached in the same session. After that, the back end stops listening to the client. Starts
     * when it is called, not when it is subscribed to. Idempotent.
     *
     * @return completes at the end, and may be ignored
     */
    @Override
    public Mono<Void> close() {
        return operations.close();
    }

    /** Returns a line for each claim that is held, queued or being withdrawn; for tests. */
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
         * Sets the root node of all locks, below the namespace of the Curator client.
         *
         * @param path absolute, not {@code /} itself and nothing under {@code /zookeeper}; default {@code /holdfast}
         * @return this
         * @throws IllegalArgumentException if the path is not allowed
         */
        public Builder root(String path) {
            PathUtils.validatePath(path);
            if (path.equals("/") || path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
                throw new IllegalArgumentException(
                        "root must be a node that no other program uses, was '%s'".formatted(path));
            }
            root = path;
            return this;
        }

        /**
         * Sets the access rights of the nodes that the back end creates, parents included. All clients that use the same locks need create,
         * read, write and delete.
         *
         * @param provider called for each path: with the namespace of the Curator client, without its chroot; on any thread, so it
         *     must not block; default: the {@code ACLProvider} of the Curator client. If that client has none, each client that can connect may change the nodes. The back end
         *     logs a warning about that once.
         * @return this
         */
        public Builder acl(ACLProvider provider) {
            acl = requireNonNull(provider, "provider");
            return this;
        }

        /**
         * Sets how many claims of all clients may wait for one lock. Beyond that, a claim fails with {@link
         * io.holdfast.LockQueueFullException}. One holder is not counted. Each further reader, or holder of a permit, counts as a waiter.
         *
         * <p>Many clients that enter at the same moment can exceed the limit for the time of a request. Then the claims at the end of the
         * queue leave it.
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
         * Sets whether leases are lost as soon as the connection is lost. By default they live until their local deadline, unless the
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
         * Sets the scheduler that runs the back end and emits its answers and signals.
         *
         * @param threads its {@code now(NANOSECONDS)} must be monotonic; the back end does not dispose it; default {@link
         *     Schedulers#parallel()}
         * @return this
         */
        public Builder scheduler(Scheduler threads) {
            scheduler = requireNonNull(threads, "threads");
            return this;
        }

        /** Sets the scheduler on which the back end looks for sessions; for tests. */
        @CanIgnoreReturnValue
        Builder mayBlock(Scheduler threads) {
            mayBlock = threads;
            return this;
        }

        /** Replaces parts by wrong ones, for simulations of mistakes. */
        @CanIgnoreReturnValue
        Builder parts(ReplaceableParts made) {
            parts = made;
            return this;
        }

        /**
         * Makes the back end.
         *
         * @return a back end that has not sent anything yet
         */
        public ZooKeeperLockBackend build() {
            return new ZooKeeperLockBackend(this);
        }

        /**
         * Makes an inspector of the locks under the {@link #root}, for operators. It borrows the client as a back end does; close it before
         * the client. To break a hold, it deletes the node of the claim. The holder learns of that from its watch, which is set 50 to 100
         * ms after the grant, or from its next renewal.
         *
         * @return an inspector that has not sent anything yet
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
