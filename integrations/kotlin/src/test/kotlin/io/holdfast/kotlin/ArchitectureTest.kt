package io.holdfast.kotlin

import com.tngtech.archunit.core.importer.ClassFileImporter
import com.tngtech.archunit.core.importer.ImportOption
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import io.holdfast.testkit.ArchitectureRules
import org.junit.jupiter.api.Test

class ArchitectureTest {
    private val code =
        ClassFileImporter()
            .withImportOption(ImportOption.DoNotIncludeTests())
            .importPackages("io.holdfast.kotlin")

    @Test
    fun moduleKeepsTheRules() = ArchitectureRules.checkAll(code)

    @Test
    fun kotlinReflectionIsNotNeeded() {
        noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAPackage("kotlin.reflect..")
            .check(code)
    }
}
