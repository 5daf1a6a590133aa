package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class JavaBlocksTest {

    private static final Pattern SHOWN =
            Pattern.compile("// (README|recipe): begin[^\\n]*\\n(.*?)\\n[^\\n]*// \\1: end", Pattern.DOTALL);

    @Test
    void everyJavaBlockOfTheDocumentationCompiles() {
        Set<String> shown = compiledElsewhere();
        List<JavaBlock> blocks = MarkdownPage.all().stream()
                .flatMap(page -> JavaBlock.of(page).stream())
                .filter(block -> !shown.contains(normal(block.code().text())))
                .toList();

        assertThat(BlockCompiler.problems(blocks)).isEmpty();
    }

    /** Blocks of an example and recipes are compiled where they are run, and tests there compare the two. */
    private static Set<String> compiledElsewhere() {
        Set<String> shown = Repository.files(".java").stream()
                .filter(file ->
                        Stream.of("examples", "test").anyMatch(it -> file.startsWith(Repository.ROOT.resolve(it))))
                .flatMap(file -> SHOWN.matcher(Repository.read(file)).results())
                .map(it -> normal(it.group(2)))
                .collect(Collectors.toSet());
        assertThat(shown).isNotEmpty();
        return shown;
    }

    private static String normal(String code) {
        return code.stripTrailing().stripIndent().strip();
    }

    @Test
    void aProblemIsNamedWithItsPageAndLine() {
        assertThat(problems(
                        "```java",
                        "LockClient locks = LockClient.create(InMemoryLockBackend.create());",
                        "locks.look();",
                        "```"))
                .singleElement()
                .asString()
                .startsWith("PAGE.md:3: cannot find symbol");
    }

    @Test
    void useOfDeprecatedApiIsAProblem() {
        assertThat(problems("```java", "new Integer(1).toString();", "```"))
                .singleElement()
                .asString()
                .contains("deprecated");
    }

    @Test
    void declarationsInACommentApplyToTheBlocksBelow() {
        assertThat(problems(
                        "```java peer",
                        "this is not Java;",
                        "```",
                        "<!-- given",
                        "import io.vertx.core.Future;",
                        "LockClient locks;",
                        "record Order(String item) {}",
                        "-->",
                        "```java",
                        "Order order = new Order(\"tea\");",
                        "return locks.lock(order.item()).withLock(lease -> { return Mono.just(1); });",
                        "```",
                        "- in a list:",
                        "  ```java",
                        "  Future<Order> place() {",
                        "      return Future.succeededFuture(new Order(locks.lock(\"x\").name()));",
                        "  }",
                        "  ```"))
                .isEmpty();
        assertThat(problems("```java", "locks.close();", "```", "<!-- given", "LockClient locks;", "-->"))
                .hasSize(1);
    }

    @Test
    void filesOfOnePackageSeeEachOtherAndNothingElse() {
        assertThat(problems(
                        "```java",
                        "package com.example.tea;",
                        "import java.time.Duration;",
                        "public final class Pot {",
                        "    public static void main(String[] args) { new Pot().fill(new Cup()); }",
                        "    Duration fill(Cup cup) { return cup.time(); }",
                        "}",
                        "```",
                        "```java",
                        "package com.example.tea;",
                        "class Cup {",
                        "    java.time.Duration time() { return java.time.Duration.ZERO; }",
                        "    LockClient locks;",
                        "}",
                        "```"))
                .singleElement()
                .asString()
                .startsWith("PAGE.md:13: cannot find symbol");
    }

    private static List<String> problems(String... lines) {
        return BlockCompiler.problems(JavaBlock.of(LinksTest.page(lines)));
    }
}
