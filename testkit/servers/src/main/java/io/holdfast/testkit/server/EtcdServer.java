package io.holdfast.testkit.server;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A member of etcd as a child process on 127.0.0.1. It ends with {@link #close} or with this JVM, even if the JVM is
 * killed. The program is {@code etcd} on the PATH, or what the system property {@value #PROGRAM} names. A JDK brings
 * none, so a test first asks {@link #isHere}.
 *
 * <p>Its methods block, and may be called from any thread, one at a time.
 */
public final class EtcdServer implements AutoCloseable {

    /** The system property that names the program: {@value}. */
    public static final String PROGRAM = "holdfast.etcd";

    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final int POLL_MILLIS = 10;

    /** Another process may take a free port before the child process does. */
    private static final int PORT_TRIES = 5;

    /** As that of Redis: the end of the pipe without a line means that the JVM is dead. */
    private static final String GUARDED = """
            exec 3<&0; files=$1; shift
            (trap '' HUP INT TERM; read -r stopped <&3 || { kill -9 $$; rm -rf "$files"; }) >/dev/null 2>&1 &
            exec "$@" 3<&- </dev/null""";

    private final Path folder;
    private final String name;
    private final int port;
    private final int peerPort;
    private final String members;
    private final List<String> arguments;
    private final Thread killer = new Thread(this::killAndForget, "holdfast-etcd-killer");

    /** Written by start and stop; read by the shutdown hook. */
    private volatile @Nullable Process process;

    private EtcdServer(String name, int port, int peerPort, String members, List<String> arguments) {
        this.name = name;
        this.port = port;
        this.peerPort = peerPort;
        this.members = members;
        this.arguments = arguments;
        try {
            folder = Files.createTempDirectory("holdfast-etcd");
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for a server of etcd", e);
        }
        Runtime.getRuntime().addShutdownHook(killer);
    }

    /**
     * Returns whether there is a program to start. If not, reports that the tests at etcd are left out.
     *
     * @return whether servers can be started
     */
    public static boolean isHere() {
        boolean isHere = program().isPresent();
        if (!isHere) {
            LeftOut.tell("etcd", "there is no etcd on the PATH; Debian has it in the package etcd-server");
        }
        return isHere;
    }

    private static Optional<Path> program() {
        String named = System.getProperty(PROGRAM);
        if (named != null) {
            return Optional.of(Path.of(named));
        }
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(":", -1))
                .filter(it -> !it.isEmpty())
                .map(it -> Path.of(it, "etcd"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Starts a cluster of one member.
     *
     * @param arguments further arguments of the program
     * @return a server that answers
     * @throws IllegalStateException if it does not start
     */
    public static EtcdServer start(String... arguments) {
        for (int i = 0; i < PORT_TRIES; i++) {
            EtcdServer server = members(1, List.of(arguments)).get(0);
            server.launch();
            if (server.answers()) {
                return server;
            }
            server.close();
        }
        throw new IllegalStateException("etcd did not start");
    }

    /**
     * Starts a cluster of three members.
     *
     * @return members that answer
     * @throws IllegalStateException if they do not start
     */
    public static List<EtcdServer> startThree() {
        for (int i = 0; i < PORT_TRIES; i++) {
            List<EtcdServer> servers = members(3, List.of());
            servers.forEach(EtcdServer::launch);
            if (servers.stream().allMatch(EtcdServer::answers)) {
                return servers;
            }
            servers.forEach(EtcdServer::close);
        }
        throw new IllegalStateException("a cluster of etcd did not start");
    }

    private static List<EtcdServer> members(int count, List<String> arguments) {
        List<Integer> peers = Stream.generate(FreePorts::next).limit(count).toList();
        List<String> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add("m%d=http://127.0.0.1:%d".formatted(i, peers.get(i)));
        }
        List<EtcdServer> servers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            servers.add(new EtcdServer("m" + i, FreePorts.next(), peers.get(i), String.join(",", members), arguments));
        }
        return servers;
    }

    /**
     * Returns the address for clients.
     *
     * @return for example {@code http://127.0.0.1:12379}
     */
    public String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /**
     * Returns the port for clients.
     *
     * @return on 127.0.0.1
     */
    public int port() {
        return port;
    }

    /**
     * Returns the process id of the server, which changes with each start.
     *
     * @return the id of a process that runs
     * @throws NullPointerException if the server is stopped
     */
    public long pid() {
        return requireNonNull(process, "the server is stopped").pid();
    }

    /** Starts the server again, with its data and at its port. */
    public void restart() {
        stop();
        launch();
        if (!answers()) {
            throw new IllegalStateException("etcd did not start again: " + said());
        }
    }

    /** Kills the server. Its data stay. */
    public void stop() {
        Process running = process;
        process = null;
        if (running != null) {
            try (OutputStream pipe = running.getOutputStream()) {
                pipe.write('\n');
            } catch (IOException guardHasEnded) {
                // The guard has ended already.
            }
            running.destroyForcibly();
            running.onExit().join();
        }
    }

    /** Freezes the server: its connections stay open, and it says nothing. */
    public void pause() {
        Signals.pause(pid());
    }

    /** Lets a frozen server go on. */
    public void resume() {
        Signals.resume(pid());
    }

    private void launch() {
        String client = endpoint();
        String peer = "http://127.0.0.1:" + peerPort;
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", GUARDED, "holdfast-etcd", folder.toString()));
        command.add(program().orElseThrow().toString());
        command.addAll(
                List.of("--name", name, "--data-dir", folder.resolve("data").toString()));
        command.addAll(List.of("--listen-client-urls", client, "--advertise-client-urls", client));
        command.addAll(List.of("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer));
        command.addAll(List.of("--initial-cluster", members));
        command.addAll(arguments);
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("etcd cannot be run", e);
        }
    }

    /** Returns false when the process ended by itself. */
    private boolean answers() {
        Process started = requireNonNull(process);
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < START_LIMIT.toNanos()) {
            if (isHealthy()) {
                return true;
            }
            try {
                if (started.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                    return false;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while etcd started", e);
            }
        }
        throw new IllegalStateException("etcd did not answer within %s: %s".formatted(START_LIMIT, said()));
    }

    private boolean isHealthy() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
            socket.setSoTimeout(2000);
            socket.getOutputStream().write("GET /health HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).contains("\"true\"");
        } catch (IOException notYet) {
            return false;
        }
    }

    private Path log() {
        return folder.resolve("log");
    }

    private String said() {
        try {
            return Files.readString(log()).strip();
        } catch (IOException e) {
            return "and left no log";
        }
    }

    private void killAndForget() {
        stop();
        TemporaryFiles.delete(folder);
    }

    @Override
    public void close() {
        stop();
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(killer);
            TemporaryFiles.delete(folder);
        } catch (IllegalStateException goingDown) {
            // The shutdown hook deletes them.
        }
    }

    @Override
    public String toString() {
        return "etcd at port " + port;
    }
}
