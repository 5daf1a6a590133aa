package io.holdfast.benchmarks.load;

import io.holdfast.benchmarks.peer.Addresses;
import io.holdfast.benchmarks.peer.PeerChoice;
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

/**
 * A {@link Worker} as the measuring process sees it. If the worker fails, ends or does not answer, the methods throw
 * {@link IllegalStateException}. Then only {@link #close} may be called. For one thread.
 */
public final class WorkerProcess implements AutoCloseable {

    /** The longest wait for an answer: longer than lanes take to stop. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(90);

    private static final Duration END_LIMIT = Duration.ofSeconds(15);
    private static final String ENDED = Worker.FAILED + "the process has ended";

    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private WorkerProcess(Process process) {
        this.process = process;
        Thread reader = new Thread(this::collectAnswers, "worker-answers");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a client of this peer in a process of its own, and waits until it is connected.
     *
     * @param isOneLock whether all its lanes use one lock; otherwise each has a lock of its own
     * @param prefix the prefix of the names of its locks
     */
    public static WorkerProcess start(PeerChoice peer, boolean isOneLock, String prefix, Addresses addresses) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xms1g", "-Xmx1g"));
        command.addAll(addresses.asArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Worker.class.getName()));
        command.addAll(List.of(peer.fullName(), Boolean.toString(isOneLock), prefix));
        WorkerProcess worker;
        try {
            worker = new WorkerProcess(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("no process for " + peer.fullName(), e);
        }
        try {
            String unused = worker.awaitAnswer();
            return worker;
        } catch (IllegalStateException e) {
            worker.close();
            throw e;
        }
    }

    /** Starts the given number of lanes. */
    public void startLanes(int count) {
        String unused = ask(Worker.START + " " + count);
    }

    /** Reads its work and its resources since its start. */
    public Reading read() {
        return Reading.parse(ask(Worker.READ));
    }

    /** Waits for the end of running cycles. */
    public void stopLanes() {
        String unused = ask(Worker.STOP);
    }

    private String ask(String command) {
        try {
            process.getOutputStream().write((command + "\n").getBytes(StandardCharsets.US_ASCII));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new IllegalStateException("the process has ended", e);
        }
        return awaitAnswer();
    }

    private String awaitAnswer() {
        try {
            String answer = answers.poll(ANSWER_LIMIT.toNanos(), TimeUnit.NANOSECONDS);
            if (answer == null) {
                throw new IllegalStateException("no answer within " + ANSWER_LIMIT);
            }
            if (answer.startsWith(Worker.FAILED)) {
                throw new IllegalStateException(answer.substring(Worker.FAILED.length()));
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void collectAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(Worker.ANSWER)) {
                    answers.add(line.substring(Worker.ANSWER.length()));
                } else {
                    System.out.println(line);
                }
            }
        } catch (IOException e) {
            System.err.println("Cannot read the output of a worker: " + e);
        }
        answers.add(ENDED);
    }

    /** Ends the process, by force if it does not end by itself. */
    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(END_LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
                Process unused = process.destroyForcibly();
            }
        } catch (IOException e) {
            Process unused = process.destroyForcibly();
        } catch (InterruptedException e) {
            Process unused = process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
