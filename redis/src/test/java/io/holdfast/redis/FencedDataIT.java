package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scripts that docs/guides/recipes.md shows for data in Redis. */
class FencedDataIT {

    private static final String STOCK = "stock:cake";
    private static final String HIGHEST = Long.toString((1L << 53) - 1);
    private static final String SECOND_HIGHEST = Long.toString((1L << 53) - 2);

    private Store store;
    private String read;
    private String write;

    @BeforeEach
    void start() throws IOException {
        String page = Files.readString(recipes());
        List<String> scripts = Pattern.compile("^```lua\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(page)
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(scripts).hasSize(2);
        read = scripts.get(0);
        write = scripts.get(1);
        store = Store.start();
        store.redis().hset(STOCK, "amount", "10");
    }

    @AfterEach
    void stop() {
        store.close();
    }

    @Test
    void anOwnerReadsAndWritesAndReadsAgain() {
        assertThat(run(read, "7")).isEqualTo("10");
        assertThat(run(write, "7", "9")).isEqualTo("9");
        assertThat(run(read, "7")).isEqualTo("9");
    }

    @Test
    void aLateWriteIsRefusedAfterALaterOwnerHasRead() {
        run(read, "9");
        run(read, "10"); // more digits, and lower as a text

        assertStale(() -> run(write, "9", "0"));
        assertStale(() -> run(read, "9"));
        assertThat(store.redis().hgetall(STOCK)).containsEntry("amount", "10").containsEntry("token", "10");
    }

    @Test
    void aWriteWithoutAReadIsRefused() {
        assertStale(() -> run(write, "7", "9"));
    }

    @Test
    void theHighestTokensAreToldApart() {
        run(read, HIGHEST);

        assertStale(() -> run(read, SECOND_HIGHEST));
    }

    /** Two modules run this test. */
    private static Path recipes() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/guides/recipes.md"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no folder above has the guides");
        }
        return folder.resolve("docs/guides/recipes.md");
    }

    @CanIgnoreReturnValue
    private String run(String script, String... arguments) {
        return store.redis().eval(script, ScriptOutputType.VALUE, new String[] {STOCK}, arguments);
    }

    private static void assertStale(Runnable late) {
        assertThatThrownBy(late::run)
                .isInstanceOf(RedisCommandExecutionException.class)
                .hasMessageStartingWith("STALE ");
    }
}
