package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionValidityTest {

    @ParameterizedTest
    @CsvSource({"4000,2666", "6000,4000", "20000,13333", "40000,26666", "2147483647,1431655764"})
    void twoThirdsOfTheNegotiatedTimeoutAreBelieved(int negotiatedMillis, long millis) {
        assertThat(SessionValidity.of(negotiatedMillis)).isEqualTo(Duration.ofMillis(millis));
    }
}
