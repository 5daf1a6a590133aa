package io.holdfast.redis;

import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.testkit.server.Signals;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A JVM of its own that waits for a lock, to be killed or frozen. It ends with this JVM at the latest. */
final class WaitingProcess implements AutoCloseable {

    private final Process process;

    private WaitingProcess(Process process) {
        this.process = process;
    }

    /** Starts the process. To know when it waits, read the queue at the server. */
    static WaitingProcess start(RedisURI uri, LockKind kind, String lockName, int waiters, Duration claimTime) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), WaitingProcess.class.getName()));
        command.addAll(List.of(
                uri.getHost(),
                Integer.toString(uri.getPort()),
                lockName,
                Integer.toString(waiters),
                Long.toString(claimTime.toMillis()),
                kind.name()));
        try {
            return new WaitingProcess(new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("no child process can be started", e);
        }
    }

    /** SIGKILL: nothing is released, and the kernel closes its connections. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /** SIGSTOP: its connections stay open, and the process reads nothing from them. */
    void freeze() {
        Signals.pause(process.pid());
    }

    /** SIGCONT: it goes on, and finds out how late it is. */
    void thaw() {
        Signals.resume(process.pid());
    }

    @Override
    public void close() {
        kill();
    }

    /** Returns the lock of that kind; a semaphore of one. */
    static ReactiveLock lock(LockClient client, LockKind kind, String name) {
        return switch (kind) {
            case MUTEX -> client.lock(name);
            case READ -> client.readWriteLock(name).readLock();
            case WRITE -> client.readWriteLock(name).writeLock();
            case SEMAPHORE -> client.semaphore(name, 1);
        };
    }

    /** The child: waits until its input ends, which happens when the parent is gone. */
    public static void main(String[] args) throws IOException {
        RedisLockBackend backend = RedisLockBackend.builder(RedisURI.create(args[0], Integer.parseInt(args[1])))
                .claimTime(Duration.ofMillis(Long.parseLong(args[4])))
                .build();
        LockClient client =
                LockClient.builder(backend).options(LockOptions.defaults()).build();
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            lock(client, LockKind.valueOf(args[5]), args[2]).acquire().subscribe(lease -> {}, error -> {});
        }
        while (System.in.read() >= 0) {
            // Only the end of the input matters.
        }
    }
}
