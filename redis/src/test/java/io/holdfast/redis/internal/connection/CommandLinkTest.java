package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.protocol.LockScripts;
import io.holdfast.redis.internal.script.LuaScript;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When a script is sent in full although nobody has said that the server lacks it. */
class CommandLinkTest {

    private static final LuaScript SCRIPT = LockScripts.MUTEX.acquire();

    private final LettuceClient lettuce =
            LettuceClient.create(null, TlsOptions.defaults(), ProtocolVersion.RESP3, link -> {});
    private final CommandLink link = new CommandLink(lettuce, RedisURI.create("redis://127.0.0.1:1"));

    @AfterEach
    void stop() {
        assertThat(lettuce.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void onceAfterACallWithoutAnAnswer() {
        assertThat(link.scripts().mayLack(SCRIPT)).isFalse();
        link.scripts().unanswered(SCRIPT);
        assertThat(link.scripts().mayLack(SCRIPT)).isTrue();
        assertThat(link.scripts().mayLack(SCRIPT)).isFalse();
    }

    @Test
    void notWhenTheServerHasShownThatItHasIt() {
        link.scripts().answered(SCRIPT, null);
        link.scripts().unanswered(SCRIPT);
        assertThat(link.scripts().mayLack(SCRIPT)).isFalse();
        link.scripts().answered(SCRIPT, "WRONGTYPE Operation against a key holding the wrong kind of value");
        link.scripts().unanswered(SCRIPT);
        assertThat(link.scripts().mayLack(SCRIPT)).isFalse();
    }

    @Test
    void againWhenTheServerHasForgottenItSince() {
        link.scripts().answered(SCRIPT, null);
        link.scripts().answered(SCRIPT, "NOSCRIPT No matching script. Please use EVAL.");
        link.scripts().unanswered(SCRIPT);
        assertThat(link.scripts().mayLack(SCRIPT)).isTrue();
    }
}
