package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

/** One server of an ensemble. It keeps its data when it is killed. */
public final class ZooKeeperProcess implements AutoCloseable {

    private static final int TICK_MILLIS = 500;
    private static final int TIMEOUT_MILLIS = 1_000;

    private final int id;
    private final int port = FreePorts.next();
    private final Path config;
    private final Path complaints;

    /** Written by the threads that start and kill the server, one at a time. */
    private volatile @Nullable Child process;

    public ZooKeeperProcess(int id, String members, Path folder) throws IOException {
        this.id = id;
        Path data = Files.createDirectories(folder.resolve("data"));
        Path unusedId = Files.writeString(data.resolve("myid"), Integer.toString(id));
        complaints = folder.resolve("complaints.txt");
        config = Files.writeString(folder.resolve("zoo.cfg"), """
                tickTime=%d
                initLimit=20
                syncLimit=6
                dataDir=%s
                clientPort=%d
                clientPortAddress=127.0.0.1
                maxClientCnxns=0
                maxSessionTimeout=60000
                admin.enableServer=false
                4lw.commands.whitelist=srvr,mntr
                %s
                """.formatted(TICK_MILLIS, data, port, members));
    }

    public int port() {
        return port;
    }

    public void start() {
        // Nothing is needed after a power cut. Empty folders of locks are deleted soon, as they would after a minute:
        // in
        // anybody's way.
        List<String> options = List.of("-Dzookeeper.forceSync=no", "-Dznode.container.checkIntervalMs=2000");
        process = Child.java("zookeeper-" + id, QuorumPeerMain.class, options, List.of(config.toString()), complaints);
    }

    void freeze() {
        Child running = process;
        if (running != null) {
            running.freeze();
        }
    }

    void wake() {
        Child running = process;
        if (running != null) {
            running.wake();
        }
    }

    boolean leads() {
        return mode().contains("Mode: leader");
    }

    boolean follows() {
        return mode().contains("Mode: follower");
    }

    boolean serves() {
        return mode().contains("Mode: ");
    }

    /** Returns whether the server serves. Starts a server again that has ended by itself, as an operator would do. */
    public boolean servesAgain() {
        Child running = process;
        if (running != null && !running.isAlive()) {
            close();
            start();
        }
        return serves();
    }

    private String mode() {
        return ask("srvr");
    }

    /** Returns the server's answer to a four-letter word; empty if it does not answer. */
    public String ask(String word) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException down) {
            return "";
        }
    }

    @Override
    public void close() {
        Child running = process;
        process = null;
        if (running != null) {
            running.close();
        }
    }
}
