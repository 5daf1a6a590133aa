package io.holdfast.testkit.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out quickly whether a Docker engine can start a container. Testcontainers takes long, and logs much, to find
 * out that there is no engine, or no image. It blocks until the engine answers; an interrupt ends that.
 *
 * @param address the address of the engine; null if the engine needs TLS, which only Testcontainers handles
 */
record DockerEngine(@Nullable SocketAddress address) {

    private static final int DOCKER_PORT = 2375;

    /**
     * The image that <a href="https://java.testcontainers.org/features/configuration/">Testcontainers</a> 2.0 starts
     * first, to clean up.
     */
    private static final String RYUK = "testcontainers/ryuk:0.14.0";

    /** Returns the engine that Testcontainers would use, if it listens. */
    static Optional<DockerEngine> find() {
        String host = System.getenv("DOCKER_HOST");
        if (host == null) {
            String home = System.getProperty("user.home", "");
            String runtime = System.getenv().getOrDefault("XDG_RUNTIME_DIR", "/run");
            return Stream.of("/var/run/docker.sock", runtime + "/docker.sock", home + "/.docker/run/docker.sock")
                    .map(Path::of)
                    .filter(Files::exists)
                    .map(socket -> new DockerEngine(UnixDomainSocketAddress.of(socket)))
                    .filter(DockerEngine::listens)
                    .findFirst();
        }
        DockerEngine named = new DockerEngine(addressOf(URI.create(host)));
        return named.address == null || named.listens() ? Optional.of(named) : Optional.empty();
    }

    private static @Nullable SocketAddress addressOf(URI host) {
        if ("unix".equals(host.getScheme())) {
            return UnixDomainSocketAddress.of(host.getPath());
        }
        boolean isPlain = System.getenv("DOCKER_TLS_VERIFY") == null && host.getHost() != null;
        return isPlain
                ? new InetSocketAddress(host.getHost(), host.getPort() < 0 ? DOCKER_PORT : host.getPort())
                : null;
    }

    private boolean listens() {
        try (SocketChannel channel = SocketChannel.open(Objects.requireNonNull(address))) {
            return channel.isConnected();
        } catch (IOException | UnsupportedOperationException refused) {
            return false;
        }
    }

    /**
     * Fails when the engine certainly cannot start a container of the image.
     *
     * @throws IllegalStateException if the image, or the image that Testcontainers itself needs, is neither in the
     *     engine nor in a registry that the engine reaches
     */
    void requireImage(String image) {
        if (address == null) {
            return;
        }
        require(image);
        if (!Boolean.parseBoolean(System.getenv("TESTCONTAINERS_RYUK_DISABLED"))) {
            require(RYUK);
        }
    }

    private void require(String image) {
        if (!knows("/images/" + image + "/json") && !knows("/distribution/" + image + "/json")) {
            throw new IllegalStateException("image " + image + " is not there, and no registry gives it");
        }
    }

    /** See the <a href="https://docs.docker.com/reference/api/engine/">Engine API</a>. */
    private boolean knows(String path) {
        String request = "GET %s HTTP/1.0\r\nHost: docker\r\n\r\n".formatted(path);
        ByteBuffer status = ByteBuffer.allocate("HTTP/1.0 200".length());
        try (SocketChannel channel = SocketChannel.open(Objects.requireNonNull(address))) {
            ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII));
            while (out.hasRemaining()) {
                channel.write(out);
            }
            while (status.hasRemaining() && channel.read(status) >= 0) {
                // until the status is complete
            }
        } catch (IOException noAnswer) {
            return false;
        }
        return new String(status.array(), StandardCharsets.US_ASCII).endsWith(" 200");
    }
}
