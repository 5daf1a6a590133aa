package io.holdfast.proof.sim;

/**
 * A campaign without a test around it: {@code Simulate REDIS 0 1000000} runs that many schedules from that seed on. The exit status is 1 if
 * one of them broke a promise.
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
