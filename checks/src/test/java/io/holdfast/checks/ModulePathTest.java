package io.holdfast.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The jars on a module path. */
class ModulePathTest {

    private static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("holdfast-blocking", "io.holdfast.blocking"),
            Map.entry("holdfast-core", "io.holdfast.core"),
            Map.entry("holdfast-etcd", "io.holdfast.etcd"),
            Map.entry("holdfast-kotlin", "io.holdfast.kotlin"),
            Map.entry("holdfast-micrometer", "io.holdfast.micrometer"),
            Map.entry("holdfast-r2dbc", "io.holdfast.r2dbc"),
            Map.entry("holdfast-redis", "io.holdfast.redis"),
            Map.entry("holdfast-redlock", "io.holdfast.redlock"),
            Map.entry("holdfast-spring-boot-starter", "io.holdfast.spring"),
            Map.entry("holdfast-test", "io.holdfast.test"),
            Map.entry("holdfast-testkit", "io.holdfast.testkit"),
            Map.entry("holdfast-vertx", "io.holdfast.vertx"),
            Map.entry("holdfast-zookeeper", "io.holdfast.zookeeper"),
            Map.entry("holdfast-zookeeper-vertx", "io.holdfast.zookeeper.vertx"));

    private static final ModuleFinder FINDER = ModuleFinder.of(
            Repository.published().stream().map(PublishedModule::jar).toArray(Path[]::new));

    @Test
    void everyJarHasTheModuleNameThatItKeeps() {
        Map<String, String> names = new TreeMap<>();
        for (PublishedModule module : Repository.published()) {
            ModuleReference only =
                    ModuleFinder.of(module.jar()).findAll().iterator().next();
            names.put(module.artifact(), only.descriptor().name());
        }

        assertThat(names).isEqualTo(new TreeMap<>(NAMES));
    }

    @Test
    void noTwoJarsShareAPackage() {
        List<String> packages = FINDER.findAll().stream()
                .map(ModuleReference::descriptor)
                .map(ModuleDescriptor::packages)
                .flatMap(Set::stream)
                .toList();

        assertThat(packages).contains("io.holdfast", "io.holdfast.spi").doesNotHaveDuplicates();
    }

    /** Without ZooKeeper: two of its jars share packages, so it cannot be on a module path. */
    @Test
    void theModulesResolveWithWhatTheyNeed() {
        List<Path> path = new ArrayList<>();
        for (PublishedModule module : Repository.published()) {
            if (Set.of("holdfast-kotlin", "holdfast-redis", "holdfast-redlock", "holdfast-micrometer", "holdfast-vertx")
                    .contains(module.artifact())) {
                path.add(module.jar());
                Dependency.of(module).stream().map(Dependency::jar).forEach(path::add);
            }
        }
        ModuleFinder finder = ModuleFinder.of(path.stream().distinct().toArray(Path[]::new));
        Configuration resolved = Configuration.resolve(
                finder, List.of(ModuleLayer.boot().configuration()), ModuleFinder.of(), names(finder));

        ModuleLayer layer = ModuleLayer.defineModulesWithOneLoader(
                        resolved, List.of(ModuleLayer.boot()), ClassLoader.getPlatformClassLoader())
                .layer();
        assertThat(names(finder))
                .contains("io.holdfast.core", "io.holdfast.redis", "reactor.core", "lettuce.core", "io.vertx.core");
        Class<?> backend = loaded(layer, "io.holdfast.redis", "io.holdfast.redis.RedisLockBackend");
        assertThat(backend.getModule().getName()).isEqualTo("io.holdfast.redis");
    }

    /** An automatic module names no required modules, so this resolves all modules, as `--add-modules ALL-MODULE-PATH` does. */
    private static Set<String> names(ModuleFinder finder) {
        return finder.findAll().stream().map(it -> it.descriptor().name()).collect(Collectors.toSet());
    }

    private static Class<?> loaded(ModuleLayer layer, String module, String type) {
        try {
            return Class.forName(type, true, layer.findLoader(module));
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }
}
