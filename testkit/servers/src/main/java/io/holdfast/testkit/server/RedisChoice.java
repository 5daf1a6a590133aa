package io.holdfast.testkit.server;

import io.holdfast.testkit.server.RedisServer.Kind;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/** Chooses the Redis to run: see {@link RedisServer#SWITCH}. */
final class RedisChoice {

    private static final AtomicBoolean IS_PRINTED = new AtomicBoolean();

    /** Set by the first failure: each JVM tries to get an image only once. */
    private static final AtomicBoolean IS_DOCKER_USELESS = new AtomicBoolean();

    /** Long enough for a container and for a small image; to wait longer, choose Docker by name. */
    private static final Duration DOCKER_LIMIT = Duration.ofSeconds(15);

    /** Written once, before a server is started from it. */
    private static volatile @Nullable Path unpackedTo;

    /** A server that answers, and its kind. */
    record Started(RedisProcess process, Kind kind) {}

    private RedisChoice() {}

    static Started start(List<String> arguments) {
        String wanted = System.getProperty(RedisServer.SWITCH, "auto").toLowerCase(Locale.ROOT);
        Started started = switch (wanted) {
            case "docker" -> docker(arguments);
            case "path" ->
                path(arguments)
                        .orElseThrow(() -> new IllegalStateException(
                                "-D%s=path, but there is no redis-server on the PATH".formatted(RedisServer.SWITCH)));
            case "embedded" -> embedded(arguments);
            case "auto" -> first(arguments);
            default ->
                throw new IllegalStateException(
                        "-D%s must be auto, docker, path or embedded, was '%s'".formatted(RedisServer.SWITCH, wanted));
        };
        if (IS_PRINTED.compareAndSet(false, true)) {
            System.out.println("[holdfast] Redis from " + started.process());
        }
        return started;
    }

    /**
     * Starts a child process with environment variables: {@code redis-server} of the PATH if the switch says so, else
     * the embedded one.
     */
    static Started local(List<String> arguments, Map<String, String> environment) {
        boolean isOfPath = "path".equalsIgnoreCase(System.getProperty(RedisServer.SWITCH));
        Optional<Path> onPath = isOfPath ? onPath() : Optional.empty();
        Path program = onPath.orElseGet(() -> EmbeddedProgram.FILE);
        return started(
                new NativeRedis(program, arguments, "", environment), onPath.isPresent() ? Kind.PATH : Kind.EMBEDDED);
    }

    private static Started first(List<String> arguments) {
        Optional<DockerEngine> engine = IS_DOCKER_USELESS.get() ? Optional.empty() : DockerEngine.find();
        if (engine.isPresent()) {
            try {
                return BoundedStart.within(DOCKER_LIMIT, () -> {
                    engine.get().requireImage(ContainerRedis.image());
                    return docker(arguments);
                });
            } catch (IllegalStateException noImage) {
                IS_DOCKER_USELESS.set(true);
                System.out.println("[holdfast] Docker is there, but starts no Redis: " + noImage.getMessage());
            }
        }
        return path(arguments).orElseGet(() -> embedded(arguments));
    }

    /**
     * Starts a child process, whatever the switch says about Docker: servers of one group have to reach each other by
     * their ports.
     */
    static Started local(List<String> arguments, String config) {
        boolean isEmbedded = "embedded".equalsIgnoreCase(System.getProperty(RedisServer.SWITCH));
        Optional<Path> onPath = isEmbedded ? Optional.empty() : onPath();
        Path program = onPath.orElseGet(() -> EmbeddedProgram.FILE);
        return started(new NativeRedis(program, arguments, config), onPath.isPresent() ? Kind.PATH : Kind.EMBEDDED);
    }

    private static Started docker(List<String> arguments) {
        return started(new ContainerRedis(arguments), Kind.DOCKER);
    }

    private static Optional<Started> path(List<String> arguments) {
        return onPath().map(program -> started(new NativeRedis(program, arguments), Kind.PATH));
    }

    private static Optional<Path> onPath() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, "redis-server"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static Started embedded(List<String> arguments) {
        return started(new NativeRedis(EmbeddedProgram.FILE, arguments), Kind.EMBEDDED);
    }

    private static Started started(RedisProcess process, Kind kind) {
        try {
            process.start();
            return new Started(process, kind);
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Returns the folder of the program that this JVM has unpacked; empty if it has not. */
    static String unpackedFolder() {
        Path folder = unpackedTo;
        return folder == null ? "" : folder.toString();
    }

    /** Unpacked once per JVM, when first needed. */
    private static final class EmbeddedProgram {

        static final Path FILE = unpack();

        private EmbeddedProgram() {}

        private static Path unpack() {
            try {
                Path folder = Files.createTempDirectory("holdfast-redis-program");
                folder.toFile().deleteOnExit();
                unpackedTo = folder;
                Path program = ExecutableProvider.newJarResourceProvider(folder.toFile())
                        .get()
                        .toPath();
                program.toFile().deleteOnExit();
                return program;
            } catch (IOException e) {
                throw new UncheckedIOException("the binary of embedded-redis cannot be unpacked", e);
            }
        }
    }
}
