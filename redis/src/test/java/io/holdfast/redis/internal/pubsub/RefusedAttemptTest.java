package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockQueueFullException;
import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.protocol.QueueLimit;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptReply;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An attempt that the server refuses because the queue is full counts as answered, as any other. */
class RefusedAttemptTest {

    private final ManualDriver driver = new ManualDriver();
    private final ExceptionTranslator failures = ExceptionTranslator.at(List.of(RedisURI.create("redis://localhost")));
    private final GrantSubscriber channel = new GrantSubscriber(
            driver,
            new SingleMasterTopology(driver, RedisURI.create("redis://localhost")),
            "holdfast:",
            Duration.ofSeconds(2),
            "me",
            failures,
            claim -> "holdfast:{" + claim.key().name() + "}:mutex",
            message -> {});
    private final LockRequests requests = new LockRequests(
            "holdfast:",
            Duration.ofSeconds(2),
            Duration.ofHours(2),
            new QueueLimit(3, "localhost"),
            channel::nameAt,
            channel::grantedInAnswer,
            false);

    @Test
    void aRefusedAttemptMakesRoomForTheNextWaiterThatIsToTryAgain() {
        List<String> told = new ArrayList<>();
        List<LockClaim> claims = new ArrayList<>();
        for (int i = 0; i <= PacedWakeUps.MOST_AT_ONCE; i++) {
            LockClaim claim = Store.claim("orders " + i, Waiting.QUEUE);
            claims.add(claim);
            var unused = channel.watch(claim).subscribe(signal -> told.add(claim.id()));
        }
        channel.watches().signalAll(watched -> true, new WatchSignal.Changed());
        assertThat(told).hasSize(PacedWakeUps.MOST_AT_ONCE);
        LockClaim first = claims.stream()
                .filter(claim -> claim.id().equals(told.get(0)))
                .findFirst()
                .orElseThrow();

        assertThatThrownBy(() -> answered(first, ScriptReply.of(4, 3))).isInstanceOf(LockQueueFullException.class);

        assertThat(told).hasSize(PacedWakeUps.MOST_AT_ONCE + 1);
    }

    @SuppressWarnings("unchecked")
    private LockAttempt answered(LockClaim claim, ScriptReply reply) {
        ReplyDecoder<ScriptReply, LockAttempt> decoder = (ReplyDecoder<ScriptReply, LockAttempt>)
                requests.acquire(claim, new ChannelRecipient(channel, claim)).decoder();
        return decoder.decode(reply);
    }
}
