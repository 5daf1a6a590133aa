package io.holdfast.testkit.server;

import com.github.dockerjava.api.DockerClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * PostgreSQL, MariaDB or MySQL in a container, with the official images or images that take the same arguments. Users
 * and databases are those of {@link PostgresServer} and {@link MariaDbServer}. Its methods block, and may be called
 * from any thread, one at a time.
 */
public final class ContainerDatabase implements SqlServer {

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration QUESTION = Duration.ofSeconds(5);
    private static final int POSTGRES_PORT = 5432;
    private static final int MYSQL_PORT = 3306;
    private static final String INITIAL = "/holdfast.sql";

    private final GenericContainer<?> container;
    private final boolean isPostgres;
    private final int port = FreePorts.next();

    private ContainerDatabase(String image, List<String> settings) {
        isPostgres = isPostgres(image);
        container = isPostgres ? postgres(image, settings) : mysql(image, settings);
        container.setPortBindings(List.of(port + ":" + (isPostgres ? POSTGRES_PORT : MYSQL_PORT)));
        container.setWaitStrategy(new AbstractWaitStrategy() {
            @Override
            protected void waitUntilReady() {
                awaitAnswer();
            }
        });
    }

    /**
     * Starts a container.
     *
     * @param image the image with its tag; a name with {@code postgres} means PostgreSQL
     * @param settings for example {@code fsync=off}
     * @return a server that answers
     */
    public static ContainerDatabase run(String image, String... settings) {
        ContainerDatabase database = new ContainerDatabase(image, List.of(settings));
        database.container.start();
        return database;
    }

    /**
     * Returns whether an image is PostgreSQL.
     *
     * @param image the name of the image
     * @return false for MariaDB and MySQL
     */
    public static boolean isPostgres(String image) {
        return image.contains("postgres");
    }

    private static GenericContainer<?> postgres(String image, List<String> settings) {
        List<String> command = new ArrayList<>(List.of("postgres"));
        settings.forEach(it -> command.addAll(List.of("-c", it)));
        return new GenericContainer<>(DockerImageName.parse(image))
                .withEnv("POSTGRES_HOST_AUTH_METHOD", "trust")
                .withCommand(command.toArray(String[]::new));
    }

    private static GenericContainer<?> mysql(String image, List<String> settings) {
        List<String> command = new ArrayList<>(List.of("--skip-name-resolve", "--init-file=" + INITIAL));
        settings.forEach(it -> command.add("--" + it));
        return new GenericContainer<>(DockerImageName.parse(image))
                .withEnv("MYSQL_ALLOW_EMPTY_PASSWORD", "1")
                .withEnv("MARIADB_ALLOW_EMPTY_ROOT_PASSWORD", "1")
                .withCopyToContainer(
                        Transferable.of(MariaDbServer.INITIAL.getBytes(StandardCharsets.UTF_8), 0644), INITIAL)
                .withCommand(command.toArray(String[]::new));
    }

    private void awaitAnswer() {
        try {
            PlainQuestion.await(LIMIT, toString(), this::answers);
        } catch (IllegalStateException late) {
            throw new IllegalStateException(late.getMessage() + ": " + log(), late);
        }
    }

    private boolean answers() {
        if (!container.isRunning()) {
            throw new IllegalStateException("the container has ended, of " + this);
        }
        return isPostgres
                ? ReadyServer.welcomes(PostgresServer.USER, host(), port, QUESTION)
                : ReadyServer.greets(host(), port, QUESTION);
    }

    @Override
    public void start() {
        docker().startContainerCmd(container.getContainerId()).exec();
        awaitAnswer();
    }

    @Override
    public String log() {
        return container.getLogs();
    }

    @Override
    public void stop() {
        docker().stopContainerCmd(container.getContainerId()).exec();
    }

    @Override
    public void crash() {
        docker().killContainerCmd(container.getContainerId()).exec();
    }

    private static DockerClient docker() {
        return DockerClientFactory.instance().client();
    }

    @Override
    public String host() {
        return container.getHost();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void close() {
        container.stop();
    }

    @Override
    public String toString() {
        return "image " + container.getDockerImageName() + " at port " + port;
    }
}
