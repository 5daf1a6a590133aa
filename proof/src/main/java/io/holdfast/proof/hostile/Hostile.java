package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.EtcdServer;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The command of the hostile world. See {@link Settings#USAGE}. It ends all processes that it has started, however it ends. */
public final class Hostile {

    private static final int KEPT = 0;
    private static final int BROKEN = 1;
    private static final int COULD_NOT_RUN = 2;

    /** The time for starting, repairing, inspecting and checking. */
    private static final Duration REST = Duration.ofMinutes(8);

    private static final int LANES = 8;

    private Hostile() {}

    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments), System.out, System.err));
    }

    private static int run(List<String> arguments, PrintStream out, PrintStream err) {
        try {
            Settings settings = Settings.parse(arguments, System.currentTimeMillis());
            int worst = KEPT;
            for (Target target : settings.targets()) {
                if (target == Target.ETCD && settings.targets().size() > 1 && !EtcdServer.isHere()) {
                    out.println("etcd is left out: it is not on the PATH");
                    continue;
                }
                worst = worse(worst, run(target, settings, out));
            }
            return worst;
        } catch (IllegalArgumentException e) {
            err.print("hostile: " + e.getMessage() + "\n" + Settings.USAGE);
        } catch (IllegalStateException | UncheckedIOException | IOException e) {
            err.println("hostile: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            err.println("hostile: interrupted");
        }
        return COULD_NOT_RUN;
    }

    private static int worse(int one, int other) {
        return one == BROKEN || other == BROKEN ? BROKEN : Math.max(one, other);
    }

    private static int run(Target target, Settings settings, PrintStream out) throws IOException, InterruptedException {
        Path folder = newFolder(settings.folder(), target.word() + "-" + settings.seed());
        Campaign.Order order = new Campaign.Order(
                settings.terms(target),
                new Size.Lasting(settings.time()),
                settings.seed(),
                new Crew(settings.processes(), 0, LANES),
                folder);
        out.printf(
                "%s: %d minutes, seed %d, histories in %s%n",
                target.word(), settings.time().toMinutes(), settings.seed(), folder);
        Thread watch = endAfter(settings.time().plus(REST));
        Outcome outcome = new Campaign(order, out).run();
        watch.interrupt();
        Report report = new Report(outcome);
        out.println(report.toText());
        Path unusedText = Files.writeString(folder.resolve("report.txt"), report.toText());
        Path unused = Files.writeString(folder.resolve("report.md"), report.toMarkdown());
        return status(outcome);
    }

    /** A broken promise counts more than a fault that could not be injected. */
    private static int status(Outcome outcome) {
        if (!outcome.violations().isEmpty()) {
            return BROKEN;
        }
        return outcome.troubles().isEmpty() ? KEPT : COULD_NOT_RUN;
    }

    /** Keeps the folders of earlier campaigns with this seed. */
    private static Path newFolder(Path parent, String name) throws IOException {
        Path folder = parent.resolve(name);
        for (int i = 2; Files.exists(folder); i++) {
            folder = parent.resolve(name + "-" + i);
        }
        return Files.createDirectories(folder);
    }

    /** Ends a campaign that hangs. The guards and hooks of its processes end them, too. */
    private static Thread endAfter(Duration limit) {
        Thread watch = new Thread(
                () -> {
                    try {
                        Strike.last(limit);
                        System.err.println("hostile: the campaign has not ended after " + limit);
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
