package io.holdfast.etcd;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.etcd.jetcd.Lease;
import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The leases of this client in etcd: one for each time to live, however many claims are attached to it. Waiters and fresh holders are
 * attached to the lease of the client's presence, which is brief. A holder that renews is attached to a lease that is somewhat longer than
 * its own lease duration. A lease is kept alive by the requests that need it.
 */
final class Leases {

    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(2);

    private static final int MOST_SECONDS = 1_000_000_000;
    private static final int TOMBSTONE_SECONDS = 150;

    /**
     * No request is expected to arrive later than this. By default the driver keeps its connection to a frozen member for 40 s. A member that
     * continues before that carries out what it was sent.
     */
    static final Duration LATE = Duration.ofSeconds(60);

    private final Lease client;
    private final Scheduler scheduler;
    private final Consumer<EtcdLease> onEnd;
    private final Duration presence;

    /** A request without an answer is given up before the next heartbeat, which then sends another one. */
    private final Duration answerLimit;

    private final Map<Integer, Slot> slots = new ConcurrentHashMap<>();
    private final Slot tombstones = new Slot(TOMBSTONE_SECONDS, false);

    Leases(Lease client, Scheduler scheduler, Duration presence, Consumer<EtcdLease> onEnd) {
        this.client = client;
        this.scheduler = scheduler;
        this.presence = presence;
        Duration half = Heartbeat.period(presence).dividedBy(2);
        answerLimit = half.compareTo(LONGEST_ANSWER) < 0 ? half : LONGEST_ANSWER;
        this.onEnd = onEnd;
    }

    Duration presence() {
        return presence;
    }

    /** The lease for new places; at least half of its time is left. */
    Mono<EtcdLease> ofPresence() {
        return slot((int) presence.toSeconds()).lease(presence.dividedBy(2));
    }

    /** Keeps the presence alive, whatever is left of it. */
    Mono<EtcdLease> prove() {
        return slot((int) presence.toSeconds()).lease(presence.multipliedBy(2));
    }

    /** The lease for a holder with this lease duration; as much is left of it. */
    Mono<EtcdLease> of(Duration lease) {
        return slot(seconds(lease)).lease(lease);
    }

    /** The lease for tombstones. It is never kept alive, so it takes them along when it ends. */
    Mono<EtcdLease> ofTombstones() {
        return tombstones.lease(LATE);
    }

    /** {@return the lease with this id, if this client keeps it} */
    @Nullable
    EtcdLease byId(long id) {
        for (Slot slot : slots.values()) {
            EtcdLease known = slot.current();
            if (known != null && known.id() == id) {
                return known;
            }
        }
        return null;
    }

    /** The slack saves a keep-alive in each request. */
    private int seconds(Duration lease) {
        return lease.multipliedBy(2).compareTo(presence) <= 0
                ? (int) presence.toSeconds()
                : rounded((int) Math.min(lease.multipliedBy(5).dividedBy(4).toSeconds() + 2, MOST_SECONDS));
    }

    /** Few different times, whatever the lease durations are: eight from each power of two to the next. */
    static int rounded(int seconds) {
        int step = Math.max(Integer.highestOneBit(seconds) / 8, 1);
        return (seconds + step - 1) / step * step;
    }

    private Slot slot(int seconds) {
        return slots.computeIfAbsent(seconds, it -> new Slot(it, true));
    }

    /** One time to live. */
    private final class Slot {

        private final int seconds;
        private final boolean isKeptAlive;

        /** Guarded by this slot. */
        private @Nullable EtcdLease current;

        /** The request that is under way. Guarded by this slot. */
        private @Nullable Mono<EtcdLease> underWay;

        Slot(int seconds, boolean isKeptAlive) {
            this.seconds = seconds;
            this.isKeptAlive = isKeptAlive;
        }

        Mono<EtcdLease> lease(Duration needed) {
            return Mono.defer(() -> {
                synchronized (this) {
                    EtcdLease known = current;
                    if (known != null && known.leftNanos(now()) >= needed.toNanos()) {
                        return Mono.just(known);
                    }
                    Mono<EtcdLease> asking = underWay;
                    if (asking == null) {
                        asking = request(known).doFinally(end -> answered()).cache();
                        underWay = asking;
                    }
                    return asking;
                }
            });
        }

        synchronized @Nullable EtcdLease current() {
            return current;
        }

        private synchronized void answered() {
            underWay = null;
        }

        private Mono<EtcdLease> request(@Nullable EtcdLease known) {
            return known == null || known.hasEnded() || !isKeptAlive ? grant() : keepAlive(known);
        }

        private Mono<EtcdLease> grant() {
            return Mono.defer(() -> {
                long start = now();
                return answer(() -> client.grant(seconds)).map(granted -> {
                    EtcdLease lease = new EtcdLease(granted.getID(), start + nanos(granted.getTTL()));
                    synchronized (this) {
                        current = lease;
                    }
                    return lease;
                });
            });
        }

        private Mono<EtcdLease> keepAlive(EtcdLease known) {
            return Mono.defer(() -> {
                long start = now();
                return answer(() -> client.keepAliveOnce(known.id()))
                        .map(answer -> {
                            known.extend(start + nanos(answer.getTTL()));
                            return known;
                        })
                        .onErrorResume(Leases::saysNotFound, gone -> {
                            ended(known);
                            return grant();
                        });
            });
        }
    }

    /** Called when etcd says that it does not know the lease. */
    void ended(EtcdLease lease) {
        lease.end();
        onEnd.accept(lease);
    }

    /** Sends a request that needs the lease. If etcd does not know the lease, nothing was written. */
    <T> Mono<T> on(EtcdLease lease, Mono<T> request) {
        return request.doOnError(Leases::saysNotFound, error -> ended(lease));
    }

    static boolean saysNotFound(Throwable error) {
        return Failures.code(error) == Status.Code.NOT_FOUND;
    }

    private <T> Mono<T> answer(Supplier<CompletableFuture<T>> request) {
        return Answers.of(request).timeout(answerLimit, scheduler);
    }

    private long now() {
        return scheduler.now(NANOSECONDS);
    }

    private static long nanos(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }
}
