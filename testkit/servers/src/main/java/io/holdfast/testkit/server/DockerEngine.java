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
 * What can be known of a Docker engine before Testcontainers is asked, which takes long, and says much, to find out that there is none,
 * or none that has an image. Blocks until the engine answers; an interrupt ends that.
 *
 * @param address where it listens; null when it can only be asked through TLS, which is left to Testcontainers
 */
record DockerEngine(@Nullable SocketAddress address) {

    private static final int DOCKER_PORT = 2375;

    /** What <a href="https://java.testcontainers.org/features/configuration/">Testcontainers</a> 2.0 starts first, to clean up. */
    private static final String RYUK = "testcontainers/ryuk:0.14.0";

    /** The engine that Testcontainers would use, if something listens there. */
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
        } catch (IOException | UnsupportedOperationException nobody) {
            return false;
        }
    }

    /**
     * Fails when it is known that a container of the image cannot be had.
     *
     * @throws IllegalStateException if that, or the image that Testcontainers needs for itself, is neither there nor in a
     *     registry that the engine reaches
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
