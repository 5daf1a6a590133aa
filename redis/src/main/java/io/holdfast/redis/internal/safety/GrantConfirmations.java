package io.holdfast.redis.internal.safety;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.topology.Destination;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import reactor.core.publisher.Mono;

/**
 * Lets grants count only when they have reached replicas. Each master has a connection of its own for this, since WAIT
 * blocks the connection that it runs on. At most one {@link ConfirmationBatch} of a master is under way; the grants
 * that come meanwhile form the next one.
 */
public final class GrantConfirmations {

    /** As many as the engine renews at once: more would keep the server busy for longer than a round trip. */
    private static final int LARGEST_BATCH = 500;

    final Topology topology;
    final LockRequests requests;
    private final ExceptionTranslator failures;
    final ReplicaConfirmation wanted;

    /**
     * The masters with a batch under way, and the grants for the next one. Only the map's own atomic operations access
     * the queues.
     */
    private final ConcurrentMap<CommandLink, Queue<UnconfirmedGrant>> busy = new ConcurrentHashMap<>();

    public GrantConfirmations(
            Topology topology, LockRequests requests, ExceptionTranslator failures, ReplicaConfirmation wanted) {
        this.topology = topology;
        this.requests = requests;
        this.failures = failures;
        this.wanted = wanted;
    }

    /**
     * Replaces a pushed grant: the claim sends an attempt instead, the answer shows that it holds, and that grant is
     * confirmed as any other.
     */
    public static WatchSignal withoutGrant(WatchSignal signal) {
        return signal instanceof WatchSignal.Granted ? new WatchSignal.Changed() : signal;
    }

    /** Emits the answer to an attempt; a grant only when it is confirmed. */
    public Mono<LockAttempt> confirmed(LockClaim claim, LockAttempt answer) {
        return answer instanceof LockAttempt.Acquired grant
                ? Mono.create(sink -> {
                    UnconfirmedGrant unconfirmed = new UnconfirmedGrant(claim, grant, sink);
                    sink.onCancel(unconfirmed);
                    add(unconfirmed);
                })
                : Mono.just(answer);
    }

    private void add(UnconfirmedGrant grant) {
        var unused = topology.linkFor(requests.holderKey(grant.claim())).whenComplete((master, error) -> {
            if (error == null) {
                add(master, grant);
            } else {
                fail(grant, error);
            }
        });
    }

    private void add(CommandLink master, UnconfirmedGrant grant) {
        Queue<UnconfirmedGrant> mine = new ArrayDeque<>();
        Queue<UnconfirmedGrant> present = busy.compute(master, (it, waiting) -> {
            if (waiting != null) {
                waiting.add(grant);
            }
            return waiting == null ? mine : waiting;
        });
        if (present == mine) {
            send(master, List.of(grant));
        }
    }

    private void send(CommandLink master, List<UnconfirmedGrant> grants) {
        new ConfirmationBatch(this, master, grants).send();
    }

    /** A batch is over, however it ended: sends the next one. */
    void ended(CommandLink master) {
        List<UnconfirmedGrant> next = new ArrayList<>();
        busy.computeIfPresent(master, (it, waiting) -> {
            while (!waiting.isEmpty() && next.size() < LARGEST_BATCH) {
                UnconfirmedGrant grant = waiting.remove();
                if (!grant.isDisposed()) {
                    next.add(grant);
                }
            }
            return next.isEmpty() ? null : waiting;
        });
        if (!next.isEmpty()) {
            send(master, next);
        }
    }

    /** Sends the grant to another server: the first one is not the master of that lock any more. */
    void redirect(CommandLink from, UnconfirmedGrant grant, Throwable error) {
        Destination next = topology.redirected(from.uri(), error);
        if (next == null) {
            fail(grant, error);
        } else if (next.asking() || !grant.mayBeSentOn()) {
            // While the slot moves, an attempt fails as well: the engine sends another one.
            fail(grant, new RedisException("redirected too often", error));
        } else {
            add(next.link(), grant);
        }
    }

    void fail(UnconfirmedGrant grant, Throwable error) {
        ExceptionTranslator.Subject subject = subject(grant);
        grant.fail(topology.isClosed() ? failures.closed(subject) : failures.of(subject, error));
    }

    void tooFew(UnconfirmedGrant grant, long confirmed) {
        grant.fail(failures.tooFewReplicas(subject(grant), confirmed, wanted.replicas(), wanted.within()));
    }

    private ExceptionTranslator.Subject subject(UnconfirmedGrant grant) {
        return requests.subject("confirm the grant of", grant.claim());
    }
}
