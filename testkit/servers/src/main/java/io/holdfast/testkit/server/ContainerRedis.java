package io.holdfast.testkit.server;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * {@code redis-server} in a container, on the same port of the host after each start. Loaded only if Docker is
 * available.
 */
final class ContainerRedis implements RedisProcess {

    private static final int REDIS_PORT = 6379;

    private final DockerImageName image;
    private final List<String> command;

    private @Nullable GenericContainer<?> container;

    /** Docker chooses it at the first start; later starts request it; 0 before. */
    private int port;

    private String host = "";

    ContainerRedis(List<String> arguments) {
        image = DockerImageName.parse(image());
        command = new ArrayList<>(List.of("redis-server"));
        command.addAll(arguments);
    }

    /** Returns the name of the image, with its tag. */
    static String image() {
        String named = System.getProperty(RedisServer.IMAGE, System.getenv(RedisServer.IMAGE));
        return named == null ? "redis:7-alpine" : named;
    }

    @Override
    public String host() {
        return host;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.empty();
    }

    @Override
    public void start() {
        GenericContainer<?> made = new GenericContainer<>(image)
                .withCommand(command.toArray(String[]::new))
                .withExposedPorts(REDIS_PORT);
        if (port != 0) {
            made.setPortBindings(List.of(port + ":" + REDIS_PORT));
        }
        container = made;
        made.start();
        host = made.getHost();
        port = made.getMappedPort(REDIS_PORT);
    }

    @Override
    public void stop() {
        if (container != null) {
            container.stop();
            container = null;
        }
    }

    @Override
    public void pause() {
        DockerClientFactory.instance().client().pauseContainerCmd(id()).exec();
    }

    @Override
    public void resume() {
        DockerClientFactory.instance().client().unpauseContainerCmd(id()).exec();
    }

    private String id() {
        if (container == null) {
            throw new IllegalStateException("this Redis is stopped");
        }
        return container.getContainerId();
    }

    @Override
    public void close() {
        stop();
    }

    @Override
    public String toString() {
        return "image " + image + " at port " + port;
    }
}
