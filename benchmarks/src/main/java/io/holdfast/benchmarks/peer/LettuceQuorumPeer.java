package io.holdfast.benchmarks.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The raw lock at five masters in parallel, acquired and released when a majority has answered. It undoes no grant and computes no validity: this
 * is a limit, not a lock.
 */
final class LettuceQuorumPeer implements Peer {

    private final RedisClient client = RedisClient.create();
    private final List<StatefulRedisConnection<String, String>> connections = new ArrayList<>();
    private final List<RawLock> masters = new ArrayList<>();
    private final int majority;

    /** A prefix of this peer only: an earlier peer may have left a lock at a master whose answer it did not await. */
    private final String prefix = RawLock.newValue() + ":";

    LettuceQuorumPeer(List<String> uris) {
        majority = uris.size() / 2 + 1;
        for (String uri : uris) {
            try {
                StatefulRedisConnection<String, String> connection = client.connect(RedisURI.create(uri));
                connections.add(connection);
                masters.add(new RawLock(connection));
            } catch (RedisException down) {
                // A master that the workload has stopped; the check below fails if too few are reachable.
            }
        }
        if (masters.size() < majority) {
            throw new IllegalStateException("only %d of %s are reachable".formatted(masters.size(), uris));
        }
    }

    @Override
    public Mono<Void> cycle(String lock, Mono<Void> whileHolding) {
        return Mono.fromCompletionStage(() -> {
            String value = RawLock.newValue();
            return majority(master -> master.take(prefix + lock, value))
                    .thenCompose(isTaken -> whileHolding.toFuture())
                    .thenCompose(nothing -> majority(master -> master.giveBack(prefix + lock, value)));
        });
    }

    private CompletionStage<Void> majority(Function<RawLock, CompletionStage<Boolean>> request) {
        CompletableFuture<Void> decided = new CompletableFuture<>();
        AtomicInteger missing = new AtomicInteger(majority);
        AtomicInteger dispensable = new AtomicInteger(masters.size() - majority);
        for (RawLock master : masters) {
            request.apply(master).whenComplete((isYes, unknown) -> {
                if (unknown == null && isYes) {
                    if (missing.decrementAndGet() == 0) {
                        decided.complete(null);
                    }
                } else if (dispensable.getAndDecrement() == 0) {
                    decided.completeExceptionally(
                            new IllegalStateException("no majority, and this way to lock cannot wait", unknown));
                }
            });
        }
        return decided;
    }

    @Override
    public void close() {
        connections.forEach(StatefulRedisConnection::close);
        LettuceEnd.shutDown(client);
    }
}
