package io.holdfast.benchmarks.watch;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.ZooKeeperLockBackend;
import io.lettuce.core.RedisURI;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A candidate of an election in a JVM of its own, which ends with this process at the latest. */
final class Candidate implements AutoCloseable {

    /** The back ends of elections. */
    enum Store {
        REDIS,
        ZOOKEEPER
    }

    private static final String ELECTION = "leader";
    private static final String STANDS = "stands";
    private static final String LEADS = "leads";
    private static final String ENDED = "ended";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

    private Candidate(Process process) {
        this.process = process;
        Thread reader = new Thread(this::listen, "candidate");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a candidate, and waits until it stands for election.
     *
     * @param leaseMillis the lease duration of its lock; on ZooKeeper the time-out of its session
     */
    static Candidate start(Addresses addresses, Store store, int leaseMillis) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.addAll(addresses.asArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Candidate.class.getName()));
        command.addAll(List.of(store.name(), Integer.toString(leaseMillis)));
        try {
            Candidate candidate = new Candidate(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
            candidate.await(STANDS);
            return candidate;
        } catch (IOException e) {
            throw new UncheckedIOException("no process for a candidate", e);
        }
    }

    private void listen() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.add(line);
            }
        } catch (IOException e) {
            System.err.println("Cannot read the output of a candidate: " + e);
        }
        said.add(ENDED);
    }

    /** Waits until it leads. */
    void awaitLead() {
        await(LEADS);
    }

    private void await(String what) {
        try {
            String heard = said.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (!what.equals(heard)) {
                throw new IllegalStateException("a candidate should say '%s' and said '%s'".formatted(what, heard));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Requests a clean end, and does not wait for it. */
    void resign() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Kills the process, so that it sends nothing more. */
    void kill() {
        Process unused = process.destroyForcibly();
    }

    @Override
    public void close() {
        kill();
    }

    /** Runs the candidate's process. */
    public static void main(String[] args) throws IOException {
        Duration lease = Duration.ofMillis(Integer.parseInt(args[1]));
        try (CuratorFramework session = Store.valueOf(args[0]) == Store.ZOOKEEPER ? session(lease) : null) {
            LockBackend backend = session == null
                    ? RedisLockBackend.create(RedisURI.create(Addresses.given().redis()))
                    : ZooKeeperLockBackend.over(session);
            LockClient locks = LockClient.create(backend);
            LockOptions.Builder options = LockOptions.builder();
            Disposable standing = locks.election(ELECTION)
                    .with(session == null ? options.leaseDuration(lease).build() : options.build())
                    .lead(own -> Mono.never().doOnSubscribe(begun -> System.out.println(LEADS)))
                    .subscribe(element -> {}, error -> {
                        System.err.println("a candidate failed: " + error);
                        System.exit(1);
                    });
            System.out.println(STANDS);
            while (System.in.read() >= 0) {
                // Only its end is of interest.
            }
            standing.dispose();
            Object unused = locks.close().block(LIMIT);
        }
        System.exit(0);
    }

    private static CuratorFramework session(Duration timeout) {
        int millis = (int) timeout.toMillis();
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(Addresses.given().zookeeper(), millis, millis, new RetryOneTime(100));
        client.start();
        return client;
    }
}
