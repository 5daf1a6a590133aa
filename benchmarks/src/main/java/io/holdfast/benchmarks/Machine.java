package io.holdfast.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.holdfast.benchmarks.peer.Addresses;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The machine of a run. */
final class Machine {

    static final String CORES = "cores";
    static final String LOAD = "load before the run";
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    private Machine() {}

    static Map<String, String> describe(Addresses addresses, String redisKind) {
        Map<String, String> text = new LinkedHashMap<>();
        text.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        text.put("processor", processor());
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        text.put(CORES, Integer.toString(system.getAvailableProcessors()));
        text.put("memory", "%d GiB".formatted(Math.round(system.getTotalMemorySize() / (double) (1L << 30))));
        // The load of other work on the machine, which may explain a surprising result.
        text.put(LOAD, "%.1f".formatted(system.getSystemLoadAverage()));
        text.put(
                "system",
                property("os.name") + " " + majorAndMinor(property("os.version")) + " " + property("os.arch"));
        text.put("JDK", property("java.vm.name") + " " + property("java.runtime.version"));
        text.put("Redis", redisVersion(addresses.redis()) + ", " + redisKind);
        Properties versions = versions();
        new TreeSet<>(versions.stringPropertyNames()).forEach(name -> text.put(name, versions.getProperty(name)));
        return text;
    }

    private static String processor() {
        if (!Files.isReadable(PROCESSORS)) {
            return "unknown";
        }
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(it -> it.startsWith("model name"))
                    .map(it -> it.substring(it.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + PROCESSORS, e);
        }
    }

    private static String redisVersion(String uri) {
        RedisClient client = RedisClient.create(RedisURI.create(uri));
        try (var connection = client.connect()) {
            return connection
                    .sync()
                    .info("server")
                    .lines()
                    .filter(it -> it.startsWith("redis_version:"))
                    .map(it -> it.substring(it.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    private static Properties versions() {
        Properties versions = new Properties();
        try (InputStream in = Machine.class.getResourceAsStream("versions.properties")) {
            if (in == null) {
                throw new IllegalStateException("versions.properties is not in the class path");
            }
            versions.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("no versions", e);
        }
        return versions;
    }

    /** The rest of the version describes a private build. */
    private static String majorAndMinor(String version) {
        return version.replaceFirst("^(\\d+\\.\\d+).*", "$1");
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }
}
