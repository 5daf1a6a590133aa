package io.holdfast.zookeeper.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServersTest {

    @ParameterizedTest
    @CsvSource({
        "'a:2181,b:2181', 'a:2181,b:2181'",
        "'a:2181,b:2181/tenant/secret', 'a:2181,b:2181'",
        "'user:pw@a:2181', 'a:2181'",
        "'', 'ZooKeeper'"
    })
    void onlyHostsAndPortsAreNamed(String connectString, String named) {
        assertThat(Servers.of(connectString)).hasToString(named);
    }

    @ParameterizedTest
    @CsvSource({"1", "5000"})
    void addressIsOnePrintableLineOfBoundedLength(int times) {
        String text = Servers.of("a\u001b\n:1,".repeat(times)).text();
        assertThat(text).doesNotContain("\n", "\u001b").hasSizeLessThan(2_000);
    }
}
