package io.holdfast.test.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each block of Java on docs/guides/recipes.md is code that a test of this package runs. */
class RecipesPageTest {

    private static final Pattern BLOCK = Pattern.compile("^```java\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern RECIPE =
            Pattern.compile("^ *// recipe: begin\n(.*?)^ *// recipe: end$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Path MODULE = Path.of("").toAbsolutePath();

    @Test
    void thePageShowsTheRecipesThatAreRun() throws IOException {
        String page = Files.readString(MODULE.resolve("../docs/guides/recipes.md"));
        List<String> shown =
                BLOCK.matcher(page).results().map(it -> it.group(1).strip()).toList();
        assertThat(shown).hasSizeGreaterThanOrEqualTo(12);

        assertThat(shown).containsExactlyInAnyOrderElementsOf(recipes());
    }

    private static List<String> recipes() throws IOException {
        Path folder = MODULE.resolve("src/test/java")
                .resolve(RecipesPageTest.class.getPackageName().replace('.', '/'));
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> sources = files.filter(it -> it.toString().endsWith("RecipesTest.java")
                            || it.toString().endsWith("RecipeTest.java"))
                    .toList();
            StringBuilder all = new StringBuilder();
            for (Path source : sources) {
                all.append(Files.readString(source));
            }
            return RECIPE.matcher(all)
                    .results()
                    .map(it -> it.group(1).stripTrailing().stripIndent().strip())
                    .toList();
        }
    }
}
