package io.holdfast.examples.orders;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

/** One instance of the real application in a JVM of its own, which ends with this JVM. */
record ShopProcess(Process process, int port, Queue<String> said) implements AutoCloseable {

    /** The hash of the payments: references of orders, with quantities. */
    static final String PAID = "paid";

    static final String DEADLY = "deadly";

    /** The payment of this order takes {@link #SLOW_PAYMENT}. Then its item has the lock of {@link Job}. */
    static final String SLOW = "slow";

    static final Duration SLOW_PAYMENT = Duration.ofSeconds(6);
    static final String SLOW_ITEM = "nightly";
    static final String PAYING = "paying slowly";

    private static final Pattern STARTED = Pattern.compile("Netty started on port (\\d+)");

    static ShopProcess start(String redisUri) {
        return start(redisUri, "holdfast.lease-duration=2s", "holdfast.wait-timeout=100s");
    }

    static ShopProcess start(String redisUri, String... properties) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ShopProcess.class.getName()));
        Shop.USUAL.forEach(property -> command.add("--" + property));
        command.addAll(List.of(
                "--spring.profiles.active=redis",
                "--spring.data.redis.url=" + redisUri,
                "--holdfast.redis.uri=" + redisUri,
                "--logging.level.org.springframework.boot=INFO"));
        Stream.of(properties).forEach(property -> command.add("--" + property));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            Queue<String> said = new ConcurrentLinkedQueue<>();
            return new ShopProcess(process, portOf(process, said), said);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The main class of the new JVM. Runs the application until the process is killed, or until its parent ends and closes the pipe. */
    public static void main(String[] arguments) {
        Thread watch = new Thread(ShopProcess::endWithTheOther, "the-other-end");
        watch.setDaemon(true);
        watch.start();
        var unused = new SpringApplicationBuilder(OrderServiceApplication.class, Job.class)
                .initializers((GenericApplicationContext it) ->
                        it.registerBean(Payments.class, () -> payments(it.getBean(ReactiveStringRedisTemplate.class))))
                .run(arguments);
    }

    /** Takes the money of an order once, and notes it in the Redis that all instances share. The instance that takes the money of {@link #DEADLY} then dies. */
    private static Payments payments(ReactiveStringRedisTemplate redis) {
        return order -> redis.<String, String>opsForHash()
                .putIfAbsent(PAID, order.reference(), Integer.toString(order.quantity()))
                .doOnNext(isFirst -> {
                    if (isFirst && order.id().equals(DEADLY)) {
                        Runtime.getRuntime().halt(1);
                    }
                })
                .delayElement(order.id().equals(SLOW) ? slowly() : Duration.ofMillis(10))
                .then();
    }

    private static Duration slowly() {
        System.out.println(PAYING);
        return SLOW_PAYMENT;
    }

    private static void endWithTheOther() {
        try {
            long unused = System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Waits for the start. The wait ends with the process at the latest; the build bounds the tests as a whole. */
    private static int portOf(Process process, Queue<String> said) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher started = STARTED.matcher(line);
            if (started.find()) {
                read(lines, said);
                return Integer.parseInt(started.group(1));
            }
            said.add(line);
        }
        throw new AssertionError("the application did not start:\n" + String.join("\n", said));
    }

    /** Reads the output, so that the process never blocks on a full pipe. */
    private static void read(BufferedReader lines, Queue<String> said) {
        Thread reader = new Thread(() -> lines.lines().forEach(said::add), "shop-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Sends SIGTERM. */
    void stop() {
        boolean unused = process.toHandle().destroy(); // the process would close its pipe, too
    }

    void kill() {
        process.destroyForcibly();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        kill();
        process.onExit().join();
    }
}
