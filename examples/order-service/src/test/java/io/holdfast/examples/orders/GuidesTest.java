package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The README and the guides show the lines of this service that are compiled and run. */
class GuidesTest {

    private static final Path HERE = Path.of("").toAbsolutePath();

    private static String page(String path) throws IOException {
        return Files.readString(HERE.resolve("../..").normalize().resolve(path));
    }

    @Test
    void theSaleIsTheCompiledOne() throws IOException {
        String source = Files.readString(HERE.resolve("src/main/java/io/holdfast/examples/orders/Orders.java"));
        String begin = "    // README: begin\n";
        String lines = source.substring(source.indexOf(begin) + begin.length(), source.indexOf("    // README: end\n"));

        assertThat(Files.readString(HERE.resolve("README.md")))
                .contains("```java\n" + lines.stripTrailing().stripIndent().stripLeading() + "\n```");
    }

    @Test
    void theLinesOfPropertiesAreThoseOfAProfile() throws IOException {
        assertThat(page("docs/guides/spring-boot.md"))
                .contains("```properties\n"
                        + Files.readString(HERE.resolve("src/main/resources/application-redis.properties"))
                        + "```");
    }

    @Test
    void everyPropertyOfTheStarterIsInTheTable() throws IOException {
        String table = page("docs/reference/spring-properties.md")
                .lines()
                .filter(line -> line.startsWith("| `holdfast."))
                .map(line -> line.split("\\|", -1)[1])
                .collect(Collectors.joining());

        assertThat(names("`(holdfast\\.[a-z0-9.-]+)`", table))
                .isEqualTo(names(
                        "\"name\": \"(holdfast\\.[a-z0-9.-]+)\",\\s+\"type\": \"(?!io\\.holdfast\\.spring\\.HoldfastProperties\\$(?!Backend|Zookeeper\\$Acl))",
                        metadata()));
    }

    private static Set<String> names(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map((MatchResult it) -> it.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String metadata() throws IOException {
        var files = GuidesTest.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json");
        while (files.hasMoreElements()) {
            try (InputStream in = files.nextElement().openStream()) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (text.contains("\"holdfast.backend\"")) {
                    return text;
                }
            }
        }
        throw new AssertionError("the starter describes no properties");
    }
}
