package io.holdfast.proof.sim;

/**
 * A campaign as a program: {@code Simulate REDIS 0 1000000} runs a million schedules from seed 0. The exit status is 1 if one of them broke a promise.
 */
final class Simulate {

    private Simulate() {}

    public static void main(String[] args) {
        Campaign campaign =
                new Campaign(StoreKind.valueOf(args[0]), Mutant.NONE, Long.parseLong(args[1]), Long.parseLong(args[2]));
        Campaign.Report report = campaign.run();
        System.out.println(report);
        System.exit(report.failures().isEmpty() ? 0 : 1);
    }
}
