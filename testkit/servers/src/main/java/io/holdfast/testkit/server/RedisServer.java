package io.holdfast.testkit.server;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis on a free port, empty, without persistence; it ends with {@link #close} or with this JVM, even if the
 * JVM is killed.
 *
 * <p>The system property {@value #SWITCH} chooses the program: {@code docker} (Testcontainers, image by the system
 * property or environment variable {@value #IMAGE}), {@code path} ({@code redis-server} on the PATH), {@code embedded}
 * (the binary of embedded-redis), or {@code auto}, the default: the first of them that works; Docker has 15 seconds to
 * start. The first start prints the choice.
 *
 * <p>Its methods block, and may be called from any thread, one at a time.
 *
 * <pre>{@code
 * try (RedisServer redis = RedisServer.start()) {
 *     RedisURI uri = RedisURI.create(redis.uri());
 * }
 * }</pre>
 */
public final class RedisServer implements AutoCloseable {

    /** The system property for the choice: {@value}. */
    public static final String SWITCH = "holdfast.redis";

    /** The system property or environment variable that names the image: {@value}. */
    public static final String IMAGE = "REDIS_IMAGE";

    /** The source of a server. */
    public enum Kind {
        /** A container of Testcontainers. */
        DOCKER,
        /** {@code redis-server} on the PATH. */
        PATH,
        /** The binary of embedded-redis. */
        EMBEDDED
    }

    private final RedisProcess process;
    private final Kind kind;
    private final @Nullable String password;

    RedisServer(RedisProcess process, Kind kind, @Nullable String password) {
        this.process = process;
        this.kind = kind;
        this.password = password;
    }

    /**
     * Starts a server without a password.
     *
     * @return a server that answers
     * @throws IllegalStateException if none can be started
     */
    public static RedisServer start() {
        return builder().start();
    }

    /**
     * Starts a builder without a password and without further arguments.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the server's address with its password, if any.
     *
     * @return for example {@code redis://127.0.0.1:40001}
     */
    public String uri() {
        return "redis://%s%s:%d".formatted(password == null ? "" : ":" + password + "@", host(), port());
    }

    /**
     * Returns the server's host.
     *
     * @return a name or address
     */
    public String host() {
        return process.host();
    }

    /**
     * Returns the server's port, the same after a restart.
     *
     * @return a port of {@link #host}
     */
    public int port() {
        return process.port();
    }

    /**
     * Returns the source of this server.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Returns the process id, if the server is a process of this machine.
     *
     * @return the id; empty for a container, or while stopped
     */
    public OptionalLong pid() {
        return process.pid();
    }

    /** Kills the server: connections break, and its data is lost. Does nothing when it is stopped already. */
    public void stop() {
        process.stop();
    }

    /** Starts the server again on the same port, empty; kills it first if it runs. */
    public void restart() {
        process.stop();
        process.start();
    }

    /** Pauses the server: connections stay open, it answers nothing, and time goes on. */
    public void pause() {
        process.pause();
    }

    /** Ends a {@link #pause}. */
    public void resume() {
        process.resume();
    }

    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return "Redis (%s) at %s:%d".formatted(kind, host(), port());
    }

    /** Collects the settings of a server. Not thread-safe. */
    public static final class Builder {

        private @Nullable String password;
        private List<String> args = List.of();
        private Map<String, String> environment = Map.of();

        private Builder() {}

        /**
         * Sets the password of the default user.
         *
         * @param required characters that need no escaping in a URI
         * @return this
         */
        public Builder password(String required) {
            password = requireNonNull(required, "required");
            return this;
        }

        /**
         * Adds arguments for {@code redis-server}, such as {@code --maxmemory 10mb}.
         *
         * @param more each word separately
         * @return this
         */
        public Builder args(String... more) {
            args = List.of(more);
            return this;
        }

        /**
         * Sets environment variables of the server, such as {@code LD_PRELOAD}. The server is then a child process,
         * whatever the switch says about Docker.
         *
         * @param variables by their names
         * @return this
         */
        public Builder environment(Map<String, String> variables) {
            environment = Map.copyOf(variables);
            return this;
        }

        /**
         * Starts the server and waits until it answers.
         *
         * @return a server that answers
         * @throws IllegalStateException if the server cannot be started
         */
        public RedisServer start() {
            RedisChoice.Started started = environment.isEmpty()
                    ? RedisChoice.start(arguments())
                    : RedisChoice.local(arguments(), environment);
            return new RedisServer(started.process(), started.kind(), password);
        }

        private List<String> arguments() {
            List<String> all = new ArrayList<>(List.of("--save", "", "--appendonly", "no", "--protected-mode", "no"));
            if (password != null) {
                all.addAll(List.of("--requirepass", password));
            }
            all.addAll(args);
            return List.copyOf(all);
        }
    }
}
