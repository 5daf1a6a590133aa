package io.holdfast.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page about the stored form has the keys of the scripts, with their types. */
class StoredFormPageTest {

    private static final Map<String, String> TYPES =
            Map.of("HASH", "hash", "ZSET", "sorted set", "STRING", "string", "LIST", "list");

    private static final String PAGE = Repository.page("docs/contribute/stored-form.md");

    @ParameterizedTest
    @CsvSource({"usual.lua, K, mutex", "usual.lua, K, rw"})
    void theKeysAreThoseOfTheScripts(String script, String inScript, String onPage) {
        String header = Repository.page(Path.of("redis/src/main/resources/io/holdfast/redis/internal/script", script)
                .toString());
        Map<String, String> keys = new TreeMap<>();
        Pattern.compile("--   \\d  P\\{name}:" + inScript + "(\\S*) +([A-Z]+) ")
                .matcher(header)
                .results()
                .forEach(it -> keys.put(it.group(1).replace("<id>", "<claim id>"), it.group(2)));

        assertThat(keys).hasSizeGreaterThanOrEqualTo(5);
        keys.forEach((suffix, type) -> assertThat(PAGE.lines())
                .as("the key %s, or the same of a mutex", suffix)
                .anyMatch(line -> line.startsWith(
                                "| `holdfast:{stock/42}:" + onPage + suffix + "` | " + TYPES.get(type))
                        || line.startsWith("| `holdfast:{stock/42}:mutex" + suffix + "` | " + TYPES.get(type))));
    }

    @ParameterizedTest
    @CsvSource({"MUTEX, m", "READ, r", "WRITE, w", "SEMAPHORE, s"})
    void theLettersOfNodesAreThoseOfTheCode(String kind, String letter) {
        String code = Repository.page("zookeeper/src/main/java/io/holdfast/zookeeper/internal/queue/QueueNode.java");

        assertThat(code).contains("case %s -> '%s';".formatted(kind, letter));
        assertThat(PAGE.toLowerCase(Locale.ROOT)).contains("`" + letter + "` for a ");
    }
}
