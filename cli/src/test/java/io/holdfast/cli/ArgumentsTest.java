package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArgumentsTest {

    private static final Map<String, String> STORE = Map.of("HOLDFAST_STORE", "redis://here");

    @Test
    void wordsAndOptionsMayStandInAnyOrder() {
        assertThat(Arguments.parse(
                        List.of(
                                "--yes",
                                "break",
                                "--claim",
                                "00ff@x",
                                "stock/42",
                                "--store",
                                "redis://there",
                                "--json"),
                        STORE))
                .isEqualTo(new Arguments(
                        Arguments.Command.BREAK, "stock/42", "redis://there", "00ff@x", true, true, null, null));
        assertThat(Arguments.parse(List.of("show", "--", "--yes"), STORE).lockName())
                .isEqualTo("--yes");
        assertThat(Arguments.parse(List.of("list", "--help"), Map.of()).command())
                .isEqualTo(Arguments.Command.HELP);
    }

    @ParameterizedTest
    @CsvSource({
        "--yes, Name a command",
        "steal, There is no command steal",
        "list --force, There is no option --force",
        "show, Name the lock",
        "show a b, Give one lock name at a time",
        "list --store, --store needs a value"
    })
    void wrongCommandLineIsRefusedWithAdvice(String words, String advice) {
        assertThatThrownBy(() -> Arguments.parse(List.of(words.split(" ", -1)), STORE))
                .isInstanceOf(UsageException.class)
                .hasMessageStartingWith(advice);
    }

    @Test
    void storeMustBeNamed() {
        assertThatThrownBy(() -> Arguments.parse(List.of("list"), Map.of()))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("--store or in the environment variable HOLDFAST_STORE");
    }

    @ParameterizedTest
    @CsvSource({
        "redis://user:geheim@host, must have no user and no password",
        "redis://host?password=geheim, must have no user and no password",
        "r2dbc:postgresql://u:geheim@host/db, must have no user and no password",
        "consul://host, address is unknown",
        "etcd://a_host, cannot be used",
        "redis+redlock://one, at least three",
        "r2dbc:oracle://host/db, cannot be used"
    })
    void wrongAddressIsRefusedAndItsSecretIsNotRepeated(String address, String advice) {
        Arguments arguments = Arguments.parse(List.of("list", "--store", address), Map.of());
        assertThatThrownBy(() -> new Stores(Map.of()).open(arguments))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining(advice)
                .hasMessageNotContaining("geheim");
    }

    @ParameterizedTest
    @CsvSource({"etcd://a_host", "redis+redlock://one", "r2dbc:oracle://host/db", "rediss+cluster://ho st"})
    void whyAnAddressCannotBeUsedIsASentence(String address) {
        Arguments arguments = Arguments.parse(List.of("list", "--store", address), Map.of());
        assertThatThrownBy(() -> new Stores(Map.of()).open(arguments))
                .hasMessageMatching("The address of the back end cannot be used: .*[^.]\\. Write it as .*");
    }

    @ParameterizedTest
    @CsvSource({
        "etcd://host, HOLDFAST_PASSWORD",
        "etcd://host, HOLDFAST_USER",
        "zookeeper://host, HOLDFAST_USER",
        "redis://host, HOLDFAST_USER"
    })
    void aUserOrAPasswordThatWouldBeIgnoredIsRefused(String address, String alone) {
        Arguments arguments = Arguments.parse(List.of("list", "--store", address), Map.of());
        assertThatThrownBy(() -> new Stores(Map.of(alone, "geheim")).open(arguments))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("Set both HOLDFAST_USER and HOLDFAST_PASSWORD")
                .hasMessageNotContaining("geheim");
    }

    @ParameterizedTest
    @CsvSource({"redis, +cluster://", "rediss, +cluster://", "redis, +redlock://", "rediss, +redlock://"})
    void eachServerOfAClusterOrARedlockMayHaveTls(String scheme, String form) {
        String address = scheme + form + "a,b:7000,c";
        Arguments arguments = Arguments.parse(List.of("list", "--store", address), Map.of());
        assertThat(new Stores(Map.of()).open(arguments)).isNotNull();
        assertThat(Stores.hosts(address)).containsExactly(scheme + "://a", scheme + "://b:7000", scheme + "://c");
    }
}
