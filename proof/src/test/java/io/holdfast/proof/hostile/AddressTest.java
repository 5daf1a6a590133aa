package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {

    private static final Terms TERMS = Terms.of(Target.REDLOCK);
    private static final List<String> SERVERS = List.of("redis://127.0.0.1:1", "redis://127.0.0.1:2");

    @ParameterizedTest
    @ValueSource(strings = {"/tmp/password.txt", "/tmp/a folder of mine/password.txt", "/tmp/-", "-"})
    void anAddressKeepsTheFileOfThePassword(String secret) {
        Address address = new Address(TERMS, SERVERS, secret);
        assertThat(Address.parse(address.toText())).isEqualTo(address);
    }

    @Test
    void anAddressWithoutAPasswordKeepsNone() {
        Address address = new Address(TERMS, SERVERS);
        assertThat(Address.parse(address.toText())).isEqualTo(address);
        assertThat(address.secret()).isEmpty();
    }
}
