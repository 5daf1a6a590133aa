package io.holdfast.proof.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What the normal build does of a campaign: each fault once, whatever time that takes. */
final class ShortCampaign {

    private static final int PLACES = 2;
    private static final int LANES = 6;

    private ShortCampaign() {}

    static void keepsItsPromises(Target target, FaultKind... kinds) throws InterruptedException {
        // Any: what is found is the same promise, and over many builds more is seen. A failure says which it was.
        long seed = System.currentTimeMillis();
        Path folder = Path.of("target", "hostile", "short-" + target.word() + "-" + seed)
                .toAbsolutePath();
        Outcome outcome = new Campaign(
                        new Campaign.Order(target, new Size.Once(Set.of(kinds)), seed, PLACES, LANES, folder))
                .run();
        String report = new Report(outcome).toText();
        System.out.println(report);
        assertThat(outcome.violations()).as(report).isEmpty();
        assertThat(outcome.faults())
                .isEqualTo(Arrays.stream(kinds).collect(Collectors.toMap(Function.identity(), kind -> 1L)));
        assertThat(outcome.grants()).as(report).isPositive();
    }
}
