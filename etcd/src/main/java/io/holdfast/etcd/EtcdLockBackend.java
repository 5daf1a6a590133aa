package io.holdfast.etcd;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.LossReason;
import io.holdfast.etcd.Failures.Subject;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.Ownership;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.Closing;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

// Longer than other classes: half of it is the contract for users, and the options belong to the same type.

/**
 * Keeps locks in etcd, over a jetcd client that you own. Tested with etcd 3.4.
 *
 * <pre>{@code
 * LockClient locks = LockClient.create(EtcdLockBackend.over(client));
 * }</pre>
 *
 * <p>A claim is a key, its place in the line of its lock. The order of the line is the order in which etcd created the keys. The claim whose
 * place is first has the lock. An acquisition writes a place, and a release deletes it: one transaction each. A waiter watches the key
 * before it, so a release wakes one waiter. It then sends an attempt, which only reads. Several waiters of one client watch the line, so that
 * each knows when it has the lock. If the next waiter is of the client that releases, the answer to the release says so, and it needs no
 * watch. Requests of a client that meet go together in one transaction. While a client has several claims of a mutex, one that enters the line
 * waits up to twenty milliseconds for the next release, to go with it.
 *
 * <p><b>Leases.</b> The places of a client are attached to few leases of etcd, not to one each. A new place is on the lease of the client's
 * {@linkplain Builder#presence presence}. If the client vanishes, its waiters and fresh holders are gone after that time. The first renewal
 * of a holder moves its place to a lease that suits {@link io.holdfast.LockOptions}' lease duration: a quarter longer, and two seconds. That is how
 * long a holder that dies later keeps its lock, and etcd takes up to a second more. Many renewals together are one transaction that only
 * reads, and a keep-alive. While the client lives, it deletes the place of a claim that was not renewed for its lease duration.
 *
 * <p><b>Fencing token</b>: the revision that created the place. It rises as long as the cluster keeps its data. Only locks of different names
 * may get the same one.
 * {@link EtcdFence} compares it inside the transactions of your data.
 *
 * <p><b>Kinds</b>: mutex, read/write lock, semaphore. Adjacent readers hold the lock together. A queued writer holds back later readers. A
 * claim of a semaphore may take several permits. While it waits for them, it holds back the claims behind it.
 *
 * <p><b>Keys</b> are under the prefix, which no other program may use. A tombstone of a withdrawn claim stays for up to 150 seconds.
 *
 * <p>The back end borrows the client and never closes it. Answers and signals come on the driver's threads, and an answer that it knows already
 * on the thread that asks. Thread-safe.
 */
public final class EtcdLockBackend implements LockBackend {

    /** How long the client waits before it repeats the deletion of a place. */
    static final Duration RETRY = Duration.ofSeconds(1);

    private static final Set<LockFeature> FEATURES = Set.of(
            LockFeature.FIFO,
            LockFeature.READ_WRITE,
            LockFeature.SEMAPHORE,
            LockFeature.MANY_PERMITS,
            LockFeature.MIN_HOLD,
            LockFeature.HOLDERS,
            LockFeature.HAND_ON,
            LockFeature.DOWNGRADE,
            LockFeature.SAFE_RESTART);

    private final Layout layout;
    private final Scheduler scheduler;
    private final Duration answerLimit;
    private final Leases leases;
    private final Claims claims;
    private final Watches watches;
    private final Notices notices;
    private final Transactions transactions;
    private final Attempts attempts;
    private final Renewals renewals;
    private final Releases releases;
    private final Inspection inspection;
    private final Closing closing = new Closing("EtcdLockBackend", Mono.defer(this::closeNow));
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final Heartbeat heartbeat;

    private EtcdLockBackend(Builder builder) {
        layout = new Layout(builder.keyPrefix, UUID.randomUUID().toString().substring(0, 18));
        scheduler = builder.timer;
        answerLimit = builder.answerLimit;
        heartbeat = new Heartbeat(scheduler, Heartbeat.period(builder.presence), this::isIdle, this::prove);
        claims = new Claims(new Slots(layout), scheduler, this::watchFor, this::overdue, heartbeat::wake);
        leases = new Leases(builder.client.getLeaseClient(), scheduler, builder.presence, claims::leaseEnded);
        watches = new Watches(
                builder.client.getWatchClient(), layout, scheduler, claims::isWaiting, claims::changed, claims::passOn);
        notices = new Notices(builder.client.getWatchClient(), layout, this::broken);
        transactions = new Transactions(builder.client.getKVClient(), scheduler);
        renewals = new Renewals(transactions, layout, leases, claims);
        attempts = new Attempts(transactions, layout, builder.maxWaiters, leases, claims, watches, renewals);
        releases = new Releases(transactions, layout, leases, claims, watches);
        inspection = new Inspection(this, transactions, leases, layout, scheduler, answerLimit);
    }

    /**
     * Returns a back end with the defaults.
     *
     * @param client the back end uses its namespace and never closes it
     * @return a back end that has not sent anything yet
     */
    public static EtcdLockBackend over(Client client) {
        return builder(client).build();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param client as in {@link #over}
     * @return a builder
     */
    public static Builder builder(Client client) {
        return new Builder(requireNonNull(client, "client"));
    }

    @Override
    public Mono<LockAttempt> tryAcquire(LockClaim claim) {
        return outside(Subject.of("acquire", claim.key()), attempts.acquire(claim));
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
     * <p>One transaction, which only reads, renews up to a hundred claims.
     */
    @Override
    public Flux<Renewal> renewAll(List<LockClaim> all) {
        List<LockClaim> batch = List.copyOf(all);
        return batch.isEmpty()
                ? Flux.empty()
                : outside(Subject.of("renew", batch.get(0).key()), renewals.renewAll(batch));
    }

    @Override
    public Mono<Renewal> adopt(LockClaim claim, long fencingToken) {
        return outside(Subject.of("adopt", claim.key()), renewals.adopt(claim, fencingToken));
    }

    @Override
    public Mono<Ownership> release(LockClaim claim) {
        return outside(Subject.of("release", claim.key()), claims.limited(releases.release(claim), answerLimit));
    }

    /**
     * {@inheritDoc}
     *
     * <p>Emits {@code Armed} at once, on the subscribing thread. Fails when the back end is closed.
     */
    @Override
    public Flux<WatchSignal> watch(LockClaim claim) {
        return new Flux<>() {
            @Override
            public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
                claims.signals().subscribe(claim.id(), subscriber, watches::forget);
                if (!isClosed.get() && !notices.isListening()) {
                    var unused = scheduler.schedule(notices::listen);
                }
            }
        };
    }

    /**
     * {@inheritDoc}
     *
     * <p>Reads the whole line of the lock. etcd does not report how long a claim has held the lock.
     */
    @Override
    public Flux<LockHolder> holders(LockKey key) {
        return outside(Subject.of("inspect", key), inspection.holders(key));
    }

    @Override
    public Mono<Void> ping() {
        Op nothing = Op.get(
                Layout.bytes(layout.prefix()),
                GetOption.builder().withCountOnly(true).build());
        return outside(Subject.ofStore("reach"), transactions.read(nothing).then());
    }

    /**
     * Returns all features but two. {@link LockFeature#TOKEN_FLOOR} is missing because etcd makes the tokens. {@link LockFeature#RUNS} is
     * missing because a transaction compares the place of one claim.
     *
     * @return always the same
     */
    @Override
    public Set<LockFeature> features() {
        return FEATURES;
    }

    @Override
    public String name() {
        return "etcd";
    }

    /**
     * Closes the watches and stops all renewals. The client stays open. Sends the releases that had no answer once more, and waits up to three
     * seconds for that. Starts when it is called, not when it is subscribed to. Idempotent.
     *
     * @return completes at the end, and may be ignored
     */
    @Override
    public Mono<Void> close() {
        return closing.begin();
    }

    private Mono<Void> closeNow() {
        isClosed.set(true);
        heartbeat.stop();
        claims.stopDeadlines();
        watches.close();
        notices.close();
        claims.signals().fail(Failures.closed(Subject.ofStore("watch")));
        List<Mono<Boolean>> last = claims.all().stream()
                .filter(Tracked::isReleased)
                .map(releases::endOverdue)
                .toList();
        return Mono.whenDelayError(last)
                .timeout(answerLimit, scheduler)
                .onErrorComplete(); // the leases end by themselves
    }

    /** Returns the comparisons for {@link EtcdFence}; they fail if this client does not hold the lease. */
    Cmp[] fence(LockLease lease) {
        for (Tracked it : claims.all()) {
            ByteSequence place = it.place();
            if (place != null
                    && it.tokenIfHeld() == lease.fencingToken()
                    && it.key().name().equals(lease.lockName())) {
                List<Cmp> comparisons = new ArrayList<>();
                comparisons.add(Conditions.createdAt(place, lease.fencingToken()));
                if (it.role() == LockKind.WRITE) {
                    comparisons.add(Conditions.createdAt(layout.mark(place), lease.fencingToken()));
                }
                return comparisons.toArray(Cmp[]::new);
            }
        }
        return new Cmp[] {Conditions.createdAt(layout.gone(""), lease.fencingToken())};
    }

    /** Returns a line for each claim that is known, for open streams, and for turns that are not over; for tests. */
    List<String> contents() {
        List<String> contents = new ArrayList<>();
        claims.all().forEach(it -> contents.add(it.toString()));
        if (transactions.turns() > 0) {
            contents.add(transactions.turns() + " turns");
        }
        if (watches.streams() > 0) {
            contents.add(watches.streams() + " watches");
        }
        return contents;
    }

    <T> Mono<T> outside(Subject subject, Mono<T> request) {
        return outside(subject, request.flux()).singleOrEmpty();
    }

    <T> Flux<T> outside(String verb, Flux<T> request) {
        return outside(Subject.ofStore(verb), request);
    }

    private <T> Flux<T> outside(Subject subject, Flux<T> request) {
        return Flux.defer(() -> isClosed.get() ? Flux.error(Failures.closed(subject)) : request)
                .onErrorMap(error -> Failures.of(subject, error));
    }

    private boolean isIdle() {
        return claims.all().isEmpty();
    }

    /** Keeps the presence alive, and the stream of notices open. The next beat tries again. */
    private void prove() {
        notices.listen();
        var unused = leases.prove().subscribe(lease -> {}, error -> {});
    }

    private void broken(String id) {
        Tracked it = claims.known(id);
        if (it != null) {
            boolean unused = it.lose();
        }
        claims.signals().signal(id, new WatchSignal.Lost(LossReason.NOT_HELD));
    }

    private void watchFor(Watches.Wish wish) {
        watches.await(wish);
    }

    /** A claim was silent for its lease duration, or its release had no answer. */
    private void overdue(Tracked it) {
        if (isClosed.get()) {
            return;
        }
        boolean isRelease = it.isReleased();
        Mono<Void> ending = releases.endOverdue(it)
                .timeout(answerLimit, scheduler)
                .doOnNext(hasEnded -> {
                    if (hasEnded) {
                        ended(it, isRelease);
                    }
                })
                .doOnError(error -> claims.keepAtLeastFor(it, RETRY))
                .onErrorComplete()
                .doFinally(end -> it.expiry(null))
                .then()
                .cache();
        it.expiry(ending);
        var unused = ending.subscribe();
    }

    private void ended(Tracked it, boolean isRelease) {
        watches.forget(it.id());
        transactions.forget(it.id(), it.key().name());
        boolean held = it.lose();
        if (isRelease) {
            claims.remove(it);
        } else {
            claims.removeUnlessLate(it, leases.presence());
        }
        claims.signals().signal(it.id(), held ? new WatchSignal.Lost(LossReason.EXPIRED) : new WatchSignal.Changed());
    }

    /** Options of an {@link EtcdLockBackend}. Not thread-safe. */
    public static final class Builder {

        private static final Duration LEAST_PRESENCE = Duration.ofSeconds(2);

        private final Client client;
        private String keyPrefix = "holdfast/";
        private Duration presence = Duration.ofSeconds(6);
        private Duration answerLimit = Duration.ofSeconds(3);
        private int maxWaiters = 10_000;
        private Scheduler timer = Schedulers.parallel();

        private Builder(Client client) {
            this.client = client;
        }

        /**
         * Sets the prefix of all keys, below the namespace of the client.
         *
         * @param prefix not blank; a slash is added if it does not end with one; default {@code holdfast/}
         * @return this
         * @throws IllegalArgumentException if it is blank
         */
        public Builder keyPrefix(String prefix) {
            if (prefix.isBlank()) {
                throw new IllegalArgumentException("keyPrefix must not be blank: no other program may use its keys");
            }
            keyPrefix = prefix.endsWith("/") ? prefix : prefix + '/';
            return this;
        }

        /**
         * Sets how long waiters and fresh holders of a client that vanished keep their places.
         *
         * @param time at least 2 s, rounded down to whole seconds; etcd does not grant less than one and a half times its election time-out; default 6 s
         * @return this
         * @throws IllegalArgumentException if it is shorter
         */
        public Builder presence(Duration time) {
            if (time.compareTo(LEAST_PRESENCE) < 0) {
                throw new IllegalArgumentException("presence must be at least 2 s, was " + time);
            }
            presence = time.truncatedTo(ChronoUnit.SECONDS);
            return this;
        }

        /**
         * Sets how many claims of all clients may wait for one lock. Beyond that, a claim fails with {@link
         * io.holdfast.LockQueueFullException}. One holder is not counted. Each further reader, or holder of a permit, counts as a waiter.
         *
         * @param waiters at least 1; default 10 000
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
         * Sets the timer: time limits, pauses, and the clock of leases.
         *
         * @param clock its {@code now(NANOSECONDS)} must be monotonic; the back end does not dispose it; default {@link
         *     Schedulers#parallel()}
         * @return this
         */
        public Builder timer(Scheduler clock) {
            timer = requireNonNull(clock, "clock");
            return this;
        }

        /** Sets how long a release, the end, and a request of the inspector may stay without an answer; for tests. */
        @CanIgnoreReturnValue
        Builder answerLimit(Duration limit) {
            answerLimit = limit;
            return this;
        }

        /**
         * Makes the back end.
         *
         * @return a back end that has not sent anything yet
         */
        public EtcdLockBackend build() {
            return new EtcdLockBackend(this);
        }

        /**
         * Makes an inspector of the locks under the {@link #keyPrefix}, for operators. It borrows the client as a back end does; close it
         * before the client. To break a hold, it deletes the place of the claim, and leaves a notice for its client.
         * A request without an answer fails after three seconds.
         *
         * @return an inspector that has not sent anything yet
         */
        public LockInspector inspector() {
            return build().inspection;
        }
    }
}
