package io.holdfast.checks;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the declarations for a native image, or for a jar with relocated classes: the scripts, and one method of Curator. */
class NativeImageTest {

    private static final String METADATA = "META-INF/native-image/io.holdfast/%s/";

    /** The resources that frameworks find by themselves: the licence, and entries with names of classes. */
    private static final Pattern NOT_LOADED_BY_US = Pattern.compile("META-INF/.*|.*\\.sql");

    private static final Set<String> REFLECTION = Set.of(
            "forName",
            "newInstance",
            "getMethod",
            "getMethods",
            "getDeclaredMethod",
            "getDeclaredMethods",
            "getField",
            "getFields",
            "getDeclaredField",
            "getDeclaredFields",
            "getConstructor",
            "getConstructors",
            "getDeclaredConstructor",
            "getDeclaredConstructors",
            "getRecordComponents");

    private static final Set<String> RESOURCES = Set.of(
            "getResource", "getResources", "getResourceAsStream", "getSystemResource", "getSystemResourceAsStream");

    /** Reads the ACLProvider of a Curator client by reflection, since there is no public method. If that fails, nodes are open, and the library logs a warning. */
    private static final String READS_CURATOR = "io.holdfast.zookeeper.internal.client.AccessRights";

    /** These classes get methods from a framework: Spring passes annotated methods, which {@code @Reflective} declares, and JUnit passes the test methods. */
    private static final Pattern TOLD_OF_METHODS =
            Pattern.compile("io\\.holdfast\\.(spring\\.(Locked|InvalidLockedMethod)\\w*(\\$.*)?|test\\.TestLocks)");

    private static final JavaClasses CODE = code();

    /** The test kit is for tests, which run on a JVM. */
    static List<PublishedModule> shipped() {
        return Repository.published().stream()
                .filter(it -> !it.artifact().equals("holdfast-testkit"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("shipped")
    void everyResourceThatIsLoadedIsDeclaredInBothFormats(PublishedModule module) {
        Set<String> resources = names(module)
                .filter(it -> !it.endsWith(".class") && !it.endsWith("/"))
                .filter(it -> !NOT_LOADED_BY_US.matcher(it).matches())
                .collect(Collectors.toSet());
        assertThat(resources.isEmpty()).isEqualTo(!module.artifact().equals("holdfast-redis"));

        assertThat(declared(module, "resource-config.json", "\"pattern\": \"([^\"]+)\"", NativeImageTest::regex))
                .isEqualTo(resources);
        assertThat(declared(module, "reachability-metadata.json", "\"glob\": \"([^\"]+)\"", NativeImageTest::glob))
                .isEqualTo(resources);
    }

    private static Stream<String> names(PublishedModule module) {
        return module.entries().stream().map(ZipEntry::getName);
    }

    private static Set<String> declared(
            PublishedModule module, String file, String line, Function<String, Predicate<String>> reader) {
        String metadata = content(module, METADATA.formatted(module.artifact()) + file);
        List<Predicate<String>> declared = Pattern.compile(line)
                .matcher(metadata)
                .results()
                .map(it -> reader.apply(it.group(1).replace("\\\\", "\\")))
                .toList();
        for (Predicate<String> it : declared) {
            assertThat(names(module).filter(it)).isNotEmpty();
        }
        return names(module)
                .filter(name -> declared.stream().anyMatch(it -> it.test(name)))
                .collect(Collectors.toSet());
    }

    private static Predicate<String> regex(String pattern) {
        return Pattern.compile(pattern).asMatchPredicate();
    }

    private static Predicate<String> glob(String glob) {
        return name -> FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(Path.of(name));
    }

    private static String content(PublishedModule module, String name) {
        try (JarFile jar = new JarFile(module.jar().toFile())) {
            ZipEntry entry = jar.getEntry(name);
            return entry == null ? "" : new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void noClassIsFoundByAName() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(READS_CURATOR)
                .should()
                .callMethodWhere(calls(
                        "reflection",
                        call -> call.getTargetOwner().isEquivalentTo(Class.class)
                                && REFLECTION.contains(call.getName())))
                .check(CODE);
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(READS_CURATOR)
                .and(DescribedPredicate.describe(
                        "get no methods from Spring or JUnit",
                        it -> !TOLD_OF_METHODS.matcher(it.getFullName()).matches()))
                .should()
                .dependOnClassesThat(resideInAPackage("java.lang.reflect")
                        .or(resideInAPackage("java.lang.invoke"))
                        .or(DescribedPredicate.describe(
                                "ServiceLoader", it -> it.getFullName().equals("java.util.ServiceLoader"))))
                .check(CODE);
    }

    @Test
    void theMethodOfCuratorThatIsReadIsDeclaredInBothFormats() {
        PublishedModule module = shipped().stream()
                .filter(it -> it.artifact().equals("holdfast-zookeeper"))
                .findFirst()
                .orElseThrow();
        for (String file : List.of("reflect-config.json", "reachability-metadata.json")) {
            assertThat(content(module, METADATA.formatted(module.artifact()) + file))
                    .contains("CuratorFrameworkImpl", "DelegatingCuratorFramework", "getAclProvider");
        }
    }

    @Test
    void aResourceIsLoadedByTheClassThatNeedsItSoThatBothCanMove() {
        noClasses()
                .should()
                .callMethodWhere(calls(
                        "a class loader for a resource",
                        call -> call.getTargetOwner().getSimpleName().endsWith("ClassLoader")
                                && RESOURCES.contains(call.getName())))
                .check(CODE);
        Set<String> readers = CODE.stream()
                .flatMap(it -> it.getMethodCallsFromSelf().stream())
                .filter(it -> it.getTargetOwner().isEquivalentTo(Class.class) && RESOURCES.contains(it.getName()))
                .map(it -> it.getOriginOwner().getPackageName().replace('.', '/'))
                .collect(Collectors.toSet());
        Set<String> scripts = shipped().stream()
                .flatMap(NativeImageTest::names)
                .filter(it -> it.endsWith(".lua"))
                .map(it -> it.substring(0, it.lastIndexOf('/')))
                .collect(Collectors.toSet());
        assertThat(scripts).isNotEmpty().isEqualTo(readers);
    }

    /** Finds the calls of these classes by name, without the classes of libraries. */
    private static JavaClasses code() {
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
        return new ClassFileImporter()
                .importLocations(shipped().stream()
                        .map(it -> Location.of(URI.create("jar:" + it.jar().toUri() + "!/")))
                        .toList());
    }

    private static DescribedPredicate<JavaCall<?>> calls(String what, Predicate<JavaCall<?>> predicate) {
        return DescribedPredicate.describe(what, predicate);
    }
}
