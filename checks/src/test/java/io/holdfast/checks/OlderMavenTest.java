package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A user who types {@code mvn} may have a Maven that is too old, such as that of the operating system. It has to say so. */
class OlderMavenTest {

    /** Maven 3.8 takes each word of a comment for a goal, and fails before it reads the pom. */
    @Test
    void settingsOfTheBuildHaveNoCommentSinceOlderVersionsCannotReadThem() {
        assertThat(Repository.read(Repository.ROOT.resolve(".mvn/maven.config")).lines())
                .isNotEmpty()
                .allMatch(line -> line.startsWith("-"));
    }

    @Test
    void refusalOfAnOlderVersionNamesTheWrapper() {
        assertThat(Repository.read(Repository.ROOT.resolve("pom.xml")))
                .containsPattern(
                        "<requireMavenVersion>\\s*<version>[^<]+</version>\\s*<message>[^<]+\\./mvnw[^<]+</message>");
    }
}
