package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.holdfast.LockBackendException;
import io.holdfast.etcd.Failures.Subject;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FailuresTest {

    private static boolean isTransient(Throwable error) {
        return ((LockBackendException) Failures.of(Subject.ofStore("reach"), error)).isTransient();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Network closed for unknown reason",
                "Connection closed after GOAWAY. HTTP/2 error code: NO_ERROR"
            })
    void endOfAConnectionIsTransient(String text) {
        assertThat(isTransient(Status.UNAVAILABLE.withDescription(text).asRuntimeException()))
                .isTrue();
    }

    @Test
    void endOfTheClientIsNot() {
        assertThat(isTransient(new RejectedExecutionException("shut down"))).isFalse();
        assertThat(isTransient(io.etcd.jetcd.common.exception.EtcdExceptionFactory.newClosedWatchClientException()))
                .isFalse();
    }
}
