package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.redis.Store;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.ChannelMessage;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Waiting;
import io.holdfast.spi.WatchSignal;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The connection for commands is slower than the channel: the answer to an attempt comes after the grant. */
class LateAnswerTest {

    private static final RedisURI SERVER = RedisURI.create("redis://localhost");

    private final ManualDriver driver = new ManualDriver();
    private final LockClaim claim = Store.claim("orders", Waiting.QUEUE);
    private final LockKeys keys = LockKeys.of("holdfast:", claim.key());
    private final GrantSubscriber channel = new GrantSubscriber(
            driver,
            new SingleMasterTopology(driver, SERVER),
            "holdfast:",
            Duration.ofSeconds(2),
            "me",
            ExceptionTranslator.at(List.of(SERVER)),
            any -> keys.holder(),
            message -> {});

    /** The lease is handed on before the second attempt is answered. A tenant of the channel repeats the grant. */
    @Test
    void anAnswerFromBeforeTheGrantDoesNotMakeTheGrantGoBack() {
        var watch = channel.watch(claim).subscribe();
        ChannelRecipient first = sent(1);
        assertThat(goesBack()).as("it is granted").isFalse();
        sent(2);
        hasToWait(first);

        watch.dispose();

        assertThat(goesBack()).isFalse();
    }

    @Test
    void anAnswerFromAfterTheGrantCounts() {
        var watch = channel.watch(claim).subscribe();
        sent(1);
        assertThat(goesBack()).as("it is granted, too late").isFalse();
        hasToWait(sent(2));

        watch.dispose();

        assertThat(goesBack()).as("a copy of it").isFalse();
        assertThat(goesBack(8)).isTrue();
    }

    @CanIgnoreReturnValue
    private ChannelRecipient sent(int attempt) {
        ChannelRecipient recipient = new ChannelRecipient(channel, claim.withAttempt(attempt));
        assertThat(recipient.channelAt(SERVER)).isNotEmpty();
        return recipient;
    }

    private void hasToWait(ChannelRecipient recipient) {
        LockAttempt queued = new LockAttempt.Queued(Duration.ofSeconds(1));
        assertThat(recipient.answered(keys.holder(), queued)).isSameAs(queued);
    }

    private boolean goesBack() {
        return goesBack(7);
    }

    private boolean goesBack(long token) {
        WatchSignal.Granted granted = new WatchSignal.Granted(token, 1, Duration.ofSeconds(2));
        return channel.watches().granted(new ChannelMessage(List.of(claim.id()), granted, keys), any -> keys.holder());
    }
}
