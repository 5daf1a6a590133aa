package io.holdfast.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The doctor tries what users have to allow. */
class CommandsOfScriptsTest {

    /** Those that the client itself sends. */
    private static final Set<String> OF_THE_CLIENT =
            Set.of("hello", "auth", "ping", "evalsha", "eval", "script|load", "subscribe", "unsubscribe");

    @Test
    void scriptTriesEachCommandOfTheDocumentedUser() throws IOException {
        String page = Files.readString(Path.of("../docs/operate/redis.md"));
        String rule = page.lines()
                .filter(line -> line.startsWith("ACL SETUSER locks on"))
                .findFirst()
                .orElseThrow();
        Set<String> documented = found("\\+([a-z|]+)", rule);
        documented.removeAll(OF_THE_CLIENT);

        Set<String> tried = found("try\\('([a-z]+)'", RedisDoctor.TRY_COMMANDS).stream()
                .map(it -> it.equals("pubsub") ? "pubsub|numsub" : it)
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(tried).isEqualTo(documented);
    }

    private static Set<String> found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(it -> it.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
