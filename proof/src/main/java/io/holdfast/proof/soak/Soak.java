package io.holdfast.proof.soak;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command of the soak. See {@link SoakSettings#USAGE}. It ends all processes that it has started, however it ends. */
public final class Soak {

    private static final int BOUNDED = 0;
    private static final int GROWING = 1;
    private static final int COULD_NOT_RUN = 2;

    /** The time for starting and ending the servers of one back end. */
    private static final Duration REST = Duration.ofMinutes(8);

    private Soak() {}

    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments), System.out, System.err));
    }

    private static int run(List<String> arguments, PrintStream out, PrintStream err) {
        try {
            SoakSettings settings = SoakSettings.parse(arguments);
            Thread watch = endAfter(
                    settings.time().plus(REST.multipliedBy(settings.targets().size())));
            int worst = BOUNDED;
            for (Target target : settings.targets()) {
                worst = worse(worst, run(target, settings, out));
            }
            watch.interrupt();
            return worst;
        } catch (IllegalArgumentException e) {
            err.print("soak: " + e.getMessage() + "\n" + SoakSettings.USAGE);
        } catch (IllegalStateException | UncheckedIOException | IOException e) {
            err.println("soak: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            err.println("soak: interrupted");
        }
        return COULD_NOT_RUN;
    }

    /** A curve that grows counts more than an open one. */
    private static int worse(int one, int other) {
        return one == GROWING || other == GROWING ? GROWING : Math.max(one, other);
    }

    private static int run(Target target, SoakSettings settings, PrintStream out)
            throws IOException, InterruptedException {
        SoakRun.Order order = settings.order(target, newFolder(settings.folder(), target.word()));
        out.printf("%s: %s, samples in %s%n", target.word(), order.time(), order.samples());
        List<Sample> samples = new SoakRun(order).run();
        SoakReport report = write(order, samples);
        out.println(report.toMarkdown());
        return switch (report.verdict()) {
            case BOUNDED -> BOUNDED;
            case GROWING -> GROWING;
            case OPEN -> COULD_NOT_RUN;
        };
    }

    /** Writes the report and the curves beside the samples. */
    static SoakReport write(SoakRun.Order order, List<Sample> samples) throws IOException {
        SoakReport report = new SoakReport(order, samples);
        Path unusedText = Files.writeString(order.folder().resolve("report.md"), report.toMarkdown());
        Path unused = Files.writeString(order.folder().resolve("curves.svg"), new Curves(samples).toSvg());
        return report;
    }

    /** Keeps the folders of earlier soaks. */
    private static Path newFolder(Path parent, String name) throws IOException {
        Path folder = parent.resolve(name);
        for (int i = 2; Files.exists(folder); i++) {
            folder = parent.resolve(name + "-" + i);
        }
        return Files.createDirectories(folder);
    }

    /** Ends a soak that hangs. The guards and hooks of its processes end them, too. */
    private static Thread endAfter(Duration limit) {
        Thread watch = new Thread(
                () -> {
                    try {
                        TimeUnit.NANOSECONDS.sleep(limit.toNanos());
                        System.err.println("soak: it has not ended after " + limit);
                        System.exit(COULD_NOT_RUN);
                    } catch (InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                },
                "time limit");
        watch.setDaemon(true);
        watch.start();
        return watch;
    }
}
