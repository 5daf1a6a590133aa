package io.holdfast.redis.internal.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KnownErrorTest {

    /** The texts of Redis 6.2, 7.x and Valkey, to a command and from a script. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "READONLY You can't write against a read only replica.",
                "READONLY You can't write against a read only slave.",
                "READONLY You can't write against a read only replica. script: f_5ee7b490a4139da70a5534edf9dfbf3188e7f740, on @user_script:27.",
                "READONLY Can not run script with write flag on readonly replica.",
                "ERR Error running script (call to f_5ee7b490a4139da70a5534edf9dfbf3188e7f740): @user_script:27: @user_script: 27: -READONLY You can't write against a read only replica.",
                "ERR Error running script (call to f_5ee7): @user_script:27: READONLY You can't write against a read only replica. ",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "LOADING Redis is loading the dataset in memory",
                "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
                "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
            })
    void serversThatAreNotMastersAreRecognised(String answer) {
        assertThat(KnownError.isDemoted(new RedisCommandExecutionException(answer)))
                .isTrue();
        assertThat(KnownError.find(new RedisCommandExecutionException(answer))
                        .known()
                        .isTransient())
                .isTrue();
    }

    /** A master that is busy, or full, or cannot save its data, stays the master. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "UNKILLABLE Sorry the script already executed write commands against the dataset.",
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
                "OOM command not allowed when used memory > 'maxmemory'.",
                "NOREPLICAS Not enough good replicas to write.",
                "CLUSTERDOWN The cluster is down",
                "NOSCRIPT No matching script. Please use EVAL.",
                "ERR something new"
            })
    void otherAnswersDoNotMakeAMasterLeft(String answer) {
        assertThat(KnownError.isDemoted(new RedisCommandExecutionException(answer)))
                .isFalse();
    }

    /** A server with TLS closes a connection without TLS so quickly that the driver may not have handled it yet. */
    @Test
    void aConnectionThatWasClosedAtOnceHasOneAdviceForAnyErrorOfTheDriver() {
        IllegalStateException driver = new IllegalStateException("RedisHandshakeHandler not registered");
        KnownError known = KnownError.find(new RedisConnectionException("Unable to connect", driver))
                .known();
        assertThat(known.advice()).contains("begin the address with rediss://");
        assertThat(known.isTransient()).isTrue();
    }

    @Test
    void onlyAnAnswerOfTheServerMeansDemotion() {
        assertThat(KnownError.isDemoted(new RedisConnectionException("READONLY You can't write")))
                .isFalse();
    }

    /**
     * A port without TLS sends nothing in the handshake; the load of the machine decides which time limit is over
     * first.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection initialization timed out after 500 millisecond(s)",
                "Command timed out after 500 millisecond(s)",
                "connection timed out after 500 ms: localhost/127.0.0.1:6379"
            })
    void silenceToTlsHasOneAdviceForAnyTimeout(String text) {
        ExceptionTranslator.Subject subject = new ExceptionTranslator.Subject("orders", "acquire");
        LockBackendException failure = ExceptionTranslator.at(List.of(RedisURI.create("rediss://localhost")))
                .of(subject, new RedisConnectionException(text));
        assertThat(failure).hasMessageContaining("that the port speaks TLS");
        LockBackendException plain = ExceptionTranslator.at(List.of(RedisURI.create("redis://localhost")))
                .of(subject, new RedisConnectionException(text));
        assertThat(plain).hasMessageContaining("does not answer").hasMessageNotContaining("TLS");
    }

    @Test
    void theTextOfAServerIsCutAndOnOneLine() {
        ExceptionTranslator failures = ExceptionTranslator.at(List.of(RedisURI.create("redis://localhost")));
        String hostile = "ERR \u001b[2J\r\nWARN all is well" + "x".repeat(100_000);
        LockBackendException failure = failures.of(
                new ExceptionTranslator.Subject("orders", "renew"), new RedisCommandExecutionException(hostile));
        assertThat(failure.getMessage()).hasSizeLessThan(600).doesNotContain("\r", "\n", "\u001b");
    }

    @Test
    void theHostThatAClusterReportsIsCutAndOnOneLine() {
        RedisURI named = RedisURI.builder().withHost("h\n".repeat(1_000)).build();
        assertThat(ExceptionTranslator.at(List.of(named)).server())
                .hasSizeLessThan(600)
                .doesNotContain("\n");
    }

    @Test
    void aTextOfTheServerIsNoRefusalOfTheDriver() {
        assertThat(ExceptionTranslator.isUnsent(new RedisException("Currently not connected. Commands are rejected.")))
                .isTrue();
        assertThat(ExceptionTranslator.isUnsent(new RedisCommandExecutionException("ERR the write was rejected")))
                .isFalse();
    }
}
