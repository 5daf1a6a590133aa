package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a script is sent in full although nobody has said that the server lacks it. */
class CommandLinkTest {

    private static final LuaScript SCRIPT = LockScripts.MUTEX.acquire();

    private final LettuceClient lettuce = LettuceClient.create(null, Tls.defaults(), ProtocolVersion.RESP3);
    private final CommandLink link = new CommandLink(lettuce, RedisURI.create("redis://127.0.0.1:1"));

    @AfterEach
    void stop() {
        assertThat(lettuce.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void onceAfterACallWithoutAnAnswer() {
        assertThat(link.mayLack(SCRIPT)).isFalse();
        link.unanswered(SCRIPT);
        assertThat(link.mayLack(SCRIPT)).isTrue();
        assertThat(link.mayLack(SCRIPT)).isFalse();
    }

    @Test
    void notWhenTheServerHasShownThatItHasIt() {
        link.answered(SCRIPT, null);
        link.unanswered(SCRIPT);
        assertThat(link.mayLack(SCRIPT)).isFalse();
        link.answered(SCRIPT, "WRONGTYPE Operation against a key holding the wrong kind of value");
        link.unanswered(SCRIPT);
        assertThat(link.mayLack(SCRIPT)).isFalse();
    }

    @Test
    void againWhenTheServerHasForgottenItSince() {
        link.answered(SCRIPT, null);
        link.answered(SCRIPT, "NOSCRIPT No matching script. Please use EVAL.");
        link.unanswered(SCRIPT);
        assertThat(link.mayLack(SCRIPT)).isTrue();
    }
}
