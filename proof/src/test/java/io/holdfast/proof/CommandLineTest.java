package io.holdfast.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandLineTest {

    private enum BackEnd {
        ONE_SERVER,
        TWO_SERVERS
    }

    private static CommandLine parse(String words) {
        return CommandLine.of(List.of(words.split(" ")), Set.of("--rate", "--seed", "--back", "--folder"));
    }

    @Test
    void optionsHaveTheirValuesOrTheGivenOnes() {
        CommandLine line = parse("one_server --rate 7 --back two_servers");
        assertThat(line.backEnds(BackEnd.class)).containsExactly(BackEnd.ONE_SERVER);
        assertThat(line.has("--rate")).isTrue();
        assertThat(line.has("--seed")).isFalse();
        assertThat(line.integer("--rate", 1, 9, 5)).isEqualTo(7);
        assertThat(line.number("--seed", 1, 9, 5)).isEqualTo(5);
        assertThat(line.choice("--back", BackEnd.class, BackEnd.ONE_SERVER)).isEqualTo(BackEnd.TWO_SERVERS);
        assertThat(line.text("--folder", "here")).isEqualTo("here");
        assertThat(parse("all").backEnds(BackEnd.class)).containsExactly(BackEnd.values());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--rate 5        | name a back end first",
                "all --speed 5   | no such option: --speed",
                "all --rate      | --rate has no value",
                "all --rate 5 --rate 6 | --rate is given twice",
                "all --rate 0    | --rate must be a whole number from 1 to 9, was 0",
                "all --rate 10   | --rate must be a whole number from 1 to 9, was 10",
                "all --rate fast | --rate must be a whole number from 1 to 9, was fast",
                "all --back red  | --back must be one of one_server, two_servers; was red",
                "all --back ONE_SERVER | --back must be one of one_server, two_servers; was ONE_SERVER",
                "red --rate 5    | the back end must be one of all, one_server, two_servers; was red",
            })
    void aWrongWordIsNamed(String words, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> {
                    CommandLine line = parse(words);
                    assertThat(line.backEnds(BackEnd.class)).isNotEmpty();
                    assertThat(line.integer("--rate", 1, 9, 1)).isPositive();
                    assertThat(line.choice("--back", BackEnd.class, BackEnd.ONE_SERVER))
                            .isNotNull();
                })
                .withMessage(message);
    }
}
