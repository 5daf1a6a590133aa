package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proof.judge.Judge;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The short campaign of the normal build: it injects each of the given faults once, with the same seed each time, without a time limit. Leases are half
 * as long as otherwise. One of the two clients is a process of its own.
 */
final class ShortCampaign {

    private static final Crew CREW = new Crew(1, 1, 6);
    private static final long SEED = 1;

    private ShortCampaign() {}

    static void keepsItsPromises(Target target, FaultKind... kinds) throws IOException, InterruptedException {
        Path parent = Files.createDirectories(Path.of("target", "hostile"));
        Path folder = Files.createTempDirectory(parent.toAbsolutePath(), "short-" + target.word() + "-");
        Duration lease = target.lease().dividedBy(2);
        Outcome outcome = new Campaign(
                        new Campaign.Order(
                                Terms.of(target).with(lease), new Size.Once(Set.of(kinds)), SEED, CREW, folder),
                        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .run();
        String report = new Report(outcome).toText();
        System.out.println(report);
        assertThat(outcome.violations()).as(report).isEmpty();
        assertThat(Judge.refused(List.of(outcome.promised()), List.of(outcome.history())))
                .as(report)
                .isEmpty();
        assertThat(outcome.troubles()).as(report).isEmpty();
        assertThat(outcome.faults())
                .isEqualTo(Arrays.stream(kinds).collect(Collectors.toMap(Function.identity(), kind -> 1L)));
        if (outcome.faults().containsKey(FaultKind.TENANT_PUBLISHES)) {
            assertThat(outcome.counts().values()).as(report).allMatch(count -> count > 0);
        }
        // More grants than those of the final check.
        assertThat(outcome.grants())
                .as(report)
                .isGreaterThan(Resource.all(target).size());
    }
}
