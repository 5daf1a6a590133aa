package io.holdfast.redis.internal.operation;

import io.holdfast.redis.internal.safety.ReplicaConfirmation;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of one back end, as its builder has checked them.
 *
 * @param uris one, or the seeds of a cluster
 * @param confirmation null if no grant is confirmed
 */
public record BackendSettings(
        List<RedisURI> uris,
        boolean isCluster,
        String keyPrefix,
        Duration claimTime,
        Duration tokensKept,
        int maxWaiters,
        Duration quarantine,
        @Nullable ReplicaConfirmation confirmation,
        boolean tracksKeys) {

    /**
     * Whether the server grants runs. Not where a pushed grant needs another look, which shows one claim: how many replicas have it, how
     * old its server is, or whether its key has changed.
     */
    public boolean grantsRuns() {
        return confirmation == null && quarantine.isZero() && !tracksKeys;
    }
}
