package io.holdfast.redis.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.internal.script.LongArrayOutput;
import io.holdfast.redis.internal.script.ScriptReply;
import io.holdfast.spi.LockAttempt;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Numbers of a server that is hostile or broken. */
class RepliesTest {

    private static final long LEASE = 6_000;

    @Test
    void noTimeIsLongerThanTheRequestedLease() {
        Duration asked = Duration.ofMillis(LEASE);
        for (long absurd : new long[] {LEASE + 1, 3_155_760_000_000L, Long.MAX_VALUE}) {
            assertThat(Replies.attempt(ScriptReply.of(1, 7, absurd), LEASE))
                    .isEqualTo(new LockAttempt.Acquired(7, asked));
            assertThat(Replies.attempt(ScriptReply.of(2, absurd), LEASE)).isEqualTo(new LockAttempt.Queued(asked));
            assertThat(Replies.attempt(ScriptReply.of(3, absurd), LEASE)).isEqualTo(new LockAttempt.Contended(asked));
        }
        assertThat(Replies.attempt(ScriptReply.of(1, 7, 5), LEASE))
                .isEqualTo(new LockAttempt.Acquired(7, Duration.ofMillis(5)));
    }

    @Test
    void repliesThatNoScriptGivesAreErrors() {
        long[][] replies = {
            {},
            {1, 7},
            {1, 7, 0},
            {1, 7, -1},
            {1, 7, Long.MIN_VALUE},
            {1, 0, 5},
            {1, -7, 5},
            {1, 1L << 53, 5},
            {1, Long.MAX_VALUE, 5},
            {2, 0},
            {2, -1},
            {2, 5, 5},
            {3, 0},
            {0},
            {-3},
            {1L << 53},
            {4, 5},
            {0, 5}
        };
        for (long[] reply : replies) {
            assertThatThrownBy(() -> Replies.attempt(ScriptReply.of(reply), LEASE))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("unexpected reply of " + reply.length);
        }
    }

    @Test
    void aRenewalThatIsNotAnsweredIsNotReadAsLost() {
        assertThat(Replies.yesOrNo(new long[] {1, 0}, 2)).containsExactly(true, false);
        for (long[] reply : new long[][] {{}, {1}, {1, 1, 1}, {1, 2}, {1, -1}}) {
            assertThatThrownBy(() -> Replies.yesOrNo(reply, 2)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void moreNumbersThanASoundAnswerHasTakeNoRoom() {
        LongArrayOutput output = new LongArrayOutput(3);
        output.multi(Integer.MAX_VALUE);
        for (int i = 0; i < 1_000_000; i++) {
            output.set(1);
            assertThat(output.get().length).isEqualTo(3);
        }
        output.complete(0);
        assertThat(output.get()).isEmpty();
    }

    @Test
    void theReplyHasAsManyNumbersAsTheServerSent() {
        LongArrayOutput output = new LongArrayOutput(3);
        output.set(2);
        output.set(50);
        output.complete(0);
        assertThat(output.get()).containsExactly(2, 50);
    }
}
