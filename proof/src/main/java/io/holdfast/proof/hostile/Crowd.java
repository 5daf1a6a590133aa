package io.holdfast.proof.hostile;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.testkit.server.RedisServer;
import io.holdfast.testkit.server.TcpProxy;
import io.holdfast.testkit.server.TcpProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * A client with two thousand waiters for twenty locks of its own. All its connections are cut at once, and the scripts of the server are flushed.
 * Then the locks are released one after the other. All waiters must be served, and the bytes that they send are bounded.
 */
final class Crowd {

    private static final int LOCKS = 20;
    private static final int WAITERS_OF_A_LOCK = 100;
    private static final int TRIES = 3;
    private static final int WAITERS = LOCKS * WAITERS_OF_A_LOCK;

    private static final Duration RETRY = Duration.ofMillis(200);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(20);

    /** The time in which holders get their locks and waiters their places: that takes as many commands as there are waiters. */
    private static final Duration QUEUES_WITHIN = Duration.ofSeconds(30);

    /** The shortest lease duration: each waiter sends several attempts in a lease, and there are many. */
    private static final Duration LEASE = Duration.ofSeconds(15);

    /** The bytes of the commands of each waiter: its next attempt, its confirmation, its release. */
    private static final long BYTES_OF_A_WAITER = 3_000;

    /** The bytes of further attempts, which a waiter sends from time to time, also while the server is unreachable, full or frozen. */
    private static final long BYTES_OF_A_WAITER_IN_A_SECOND = 500;

    private final Terms terms;
    private final RedisServer server;
    private final RedisUsers users;
    private final AtomicLong served = new AtomicLong();
    private final List<String> complaints = new CopyOnWriteArrayList<>();

    Crowd(Terms terms, RedisServer server, RedisUsers users) {
        this.terms = terms.lease().compareTo(LEASE) < 0 ? terms.with(LEASE) : terms;
        this.server = server;
        this.users = users;
    }

    /** The name of the count in the report. */
    Map<String, Long> counts() {
        return Map.of("waiters of a crowd, served", served.get());
    }

    List<String> complaints() {
        return List.copyOf(complaints);
    }

    void cutOff(Strike strike) throws InterruptedException {
        try (TcpProxy wire = TcpProxy.inFrontOf(server)) {
            Address address =
                    new Address(terms, List.of("redis://%s:%d".formatted(wire.host(), wire.port())), users.secret());
            Address.Opened opened = address.open();
            LockClient client = LockClient.builder(opened.backend())
                    .options(LockOptions.builder()
                            .leaseDuration(terms.lease())
                            .waitTimeout(limit().multipliedBy(2))
                            .build())
                    .build();
            try {
                boolean isDone = false;
                for (int i = 0; i < TRIES && !isDone; i++) {
                    isDone = cutOff(client, wire, strike, names(strike, i));
                }
            } finally {
                String unused = Afterwards.outcome(client.close().timeout(CLOSES_WITHIN));
                opened.rest().run();
            }
        }
    }

    /** Returns false if a server that had lost the holders served waiters before. */
    private boolean cutOff(LockClient client, TcpProxy wire, Strike strike, List<String> names)
            throws InterruptedException {
        List<LockLease> held = Flux.fromIterable(names)
                .flatMap(name -> client.lock(name).acquire(), LOCKS)
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, RETRY))
                .collectList()
                .block(limit());
        AtomicInteger done = new AtomicInteger();
        Disposable waiting = Flux.fromIterable(names)
                .repeat(WAITERS_OF_A_LOCK - 1)
                .flatMap(name -> serve(client, name).doOnSuccess(unused -> done.incrementAndGet()), WAITERS)
                .subscribe();
        try {
            awaitQueues(names, done);
            strike.last();
            if (done.get() > 0) {
                return false;
            }
            boolean isFlushed = Orders.attempt(server, redis -> redis.scriptFlush());
            long startNanos = System.nanoTime();
            long before = wire.bytes(Direction.TO_SERVER);
            wire.cut();
            Disposable releases = Flux.fromIterable(held == null ? List.<LockLease>of() : held)
                    .flatMap(lease -> lease.release().onErrorComplete(), LOCKS)
                    .subscribe();
            while (done.get() < WAITERS && System.nanoTime() - startNanos < limit().toNanos()) {
                Strike.last(POLL_INTERVAL);
            }
            releases.dispose();
            Duration took = Duration.ofNanos(System.nanoTime() - startNanos);
            served.addAndGet(done.get());
            judge(done.get(), took, wire.bytes(Direction.TO_SERVER) - before, isFlushed);
            return true;
        } finally {
            waiting.dispose();
        }
    }

    /** Waits until all waiters have a place. If the server is unreachable for too long, their connections are cut before that. */
    private void awaitQueues(List<String> names, AtomicInteger done) throws InterruptedException {
        long startNanos = System.nanoTime();
        while (done.get() == 0 && System.nanoTime() - startNanos < QUEUES_WITHIN.toNanos()) {
            long[] waiting = new long[1];
            boolean isPublished = Orders.attempt(server, redis -> {
                for (String name : names) {
                    String lock = "holdfast:{%s}:mutex".formatted(name);
                    waiting[0] += redis.zcard(lock + ":queue");
                }
                return waiting;
            });
            if (isPublished && waiting[0] >= WAITERS) {
                return;
            }
            Strike.last(POLL_INTERVAL);
        }
    }

    /** Acquires and releases a lock. Tries again after an error, which another fault may cause, such as a rotated password. */
    private static Mono<Void> serve(LockClient client, String name) {
        return client.lock(name)
                .acquire()
                .flatMap(LockLease::release)
                .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, RETRY));
    }

    private void judge(int done, Duration took, long bytes, boolean isFlushed) {
        String how = "a crowd that was cut off%s: %d of %d waiters served in %s ms, for %d bytes"
                .formatted(isFlushed ? " without scripts" : "", done, WAITERS, took.toMillis(), bytes);
        System.err.println(how);
        long most = WAITERS * (BYTES_OF_A_WAITER + took.toMillis() * BYTES_OF_A_WAITER_IN_A_SECOND / 1_000);
        if (done < WAITERS || bytes > most) {
            complaints.add(how + ", at most " + most);
        }
    }

    private static List<String> names(Strike strike, int number) {
        return IntStream.range(0, LOCKS)
                .mapToObj(i -> "crowd-%d-%d-%d".formatted(strike.choice(), number, i))
                .toList();
    }

    /** Without a fault this takes seconds. On a machine with far more work than processors it takes most of a minute. */
    private Duration limit() {
        return Afterwards.limit(terms).multipliedBy(2);
    }
}
