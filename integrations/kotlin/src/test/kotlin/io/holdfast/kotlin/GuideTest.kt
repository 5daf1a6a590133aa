package io.holdfast.kotlin

import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.extension
import kotlin.io.path.readText

/** The Kotlin code of the guide and of the front page is that of `com.example`, which is compiled and tested in this module. */
class GuideTest {
    private val root =
        generateSequence(
            Path.of("").toAbsolutePath(),
        ) { it.parent }.first { Files.exists(it.resolve("docs/guides/kotlin.md")) }

    @Test
    fun everyBlockOfTheGuideIsCompiled() {
        val page = root.resolve("docs/guides/kotlin.md").readText() + root.resolve("site/front.md").readText()
        val blocks = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL).findAll(page).map { it.groupValues[1] }.toList()
        val compiled =
            Files.walk(root.resolve("integrations/kotlin/src/test/kotlin/com/example")).use { files ->
                files.filter { it.extension == "kt" }.toList().map { it.readText() }
            }
        assertThat(blocks).hasSizeGreaterThan(4).allSatisfy { block ->
            assertThat(compiled).anyMatch { source -> block in source }
        }
    }
}
