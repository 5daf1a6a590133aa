package io.holdfast.redis.internal.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;

/** When a script is sent in full although no answer has shown that the server lacks it. */
class ScriptPipelineTest {

    private static final LuaScript SCRIPT = LuaScript.load("mutex");

    private final ScriptPipeline scripts =
            new CommandLink(new ManualDriver(), RedisURI.create("redis://127.0.0.1:1")).scripts();

    @Test
    void theScriptIsSentInFullOnceAfterACallWithoutAnAnswer() {
        assertThat(scripts.mayLack(SCRIPT)).isFalse();
        scripts.unanswered(SCRIPT);
        assertThat(scripts.mayLack(SCRIPT)).isTrue();
        assertThat(scripts.mayLack(SCRIPT)).isFalse();
    }

    @Test
    void theScriptIsNotSentInFullWhenTheServerHasIt() {
        scripts.answered(SCRIPT, null);
        scripts.unanswered(SCRIPT);
        assertThat(scripts.mayLack(SCRIPT)).isFalse();
        scripts.answered(SCRIPT, "WRONGTYPE Operation against a key holding the wrong kind of value");
        scripts.unanswered(SCRIPT);
        assertThat(scripts.mayLack(SCRIPT)).isFalse();
    }

    /** Such an error names the script by its hash. */
    @Test
    void aReplicaThatHasTheScriptDoesNotGetItAgain() {
        scripts.answered(SCRIPT, "READONLY You can't write against a read only replica. script: " + SCRIPT.sha());
        scripts.unanswered(SCRIPT);
        assertThat(scripts.mayLack(SCRIPT)).isFalse();
    }

    @Test
    void theScriptIsSentInFullAgainWhenTheServerHasForgottenIt() {
        scripts.answered(SCRIPT, null);
        scripts.answered(SCRIPT, "NOSCRIPT No matching script. Please use EVAL.");
        scripts.unanswered(SCRIPT);
        assertThat(scripts.mayLack(SCRIPT)).isTrue();
    }
}
