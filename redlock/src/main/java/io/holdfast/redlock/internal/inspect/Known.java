package io.holdfast.redlock.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.redlock.internal.claim.IdAtMaster;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The holders of one lock by the answers of the masters, under any id of the claim. A claim holds the lock if a
 * majority of all masters knows it as a holder. Pure.
 *
 * @param holders those that a majority knows, with the lowest token first
 * @param few a sentence for each claim that fewer masters know
 * @param isCertain whether the masters that did not answer cannot make a majority for a claim in {@code few}
 */
record Known(List<LockHolder> holders, List<String> few, boolean isCertain) {

    private record Sighting(String master, LockHolder holder) {}

    /**
     * Counts the masters that know each claim.
     *
     * @param masters how many there are
     * @param answers the holders that each answering master knows, by its name
     */
    static Known of(int masters, Map<String, List<LockHolder>> answers) {
        int majority = masters / 2 + 1;
        int silent = masters - answers.size();
        Map<String, Map<String, Sighting>> sightings = new LinkedHashMap<>();
        answers.forEach((master, its) -> its.forEach(holder -> sightings
                .computeIfAbsent(IdAtMaster.claimId(holder.claimId()), id -> new LinkedHashMap<>())
                .putIfAbsent(master, new Sighting(master, holder))));
        List<LockHolder> holders = new ArrayList<>();
        List<String> few = new ArrayList<>();
        boolean isCertain = true;
        for (Map.Entry<String, Map<String, Sighting>> claim : sightings.entrySet()) {
            List<Sighting> its = List.copyOf(claim.getValue().values());
            if (its.size() >= majority) {
                holders.add(merged(claim.getKey(), masters, majority, answers, its));
            } else {
                isCertain &= its.size() + silent < majority;
                few.add(
                        ("Claim %s is known to %d of %d masters only (%s): it holds nothing, unless masters that did not answer know it too."
                                        + " What it has there ends with its lease.")
                                .formatted(claim.getKey(), its.size(), masters, String.join(", ", names(its))));
            }
        }
        holders.sort(Comparator.comparingLong(LockHolder::fencingToken));
        return new Known(holders, few, isCertain);
    }

    private static LockHolder merged(
            String claimId, int masters, int majority, Map<String, List<LockHolder>> answers, List<Sighting> its) {
        LockHolder first = its.get(0).holder();
        Map<String, String> details = new LinkedHashMap<>();
        details.put("masters", "%d of %d".formatted(its.size(), masters));
        TreeSet<String> without = new TreeSet<>(answers.keySet());
        without.removeAll(names(its));
        if (!without.isEmpty()) {
            details.put("not known to", String.join(", ", without));
        }
        return new LockHolder(
                claimId,
                first.kind(),
                first.permits(),
                // A master that answered after the decision may have granted a higher one.
                ofAMajority(its, majority, it -> Optional.of(it.fencingToken())).orElseThrow(),
                ofAMajority(its, majority, LockHolder::held),
                ofAMajority(its, majority, LockHolder::remaining),
                details);
    }

    private static List<String> names(List<Sighting> its) {
        return its.stream().map(Sighting::master).toList();
    }

    /** Returns the greatest value that a majority reports or exceeds. */
    private static <T extends Comparable<T>> Optional<T> ofAMajority(
            List<Sighting> its, int majority, Function<LockHolder, Optional<T>> part) {
        List<T> greatestFirst = its.stream()
                .flatMap(it -> part.apply(it.holder()).stream())
                .sorted(Comparator.reverseOrder())
                .toList();
        return greatestFirst.size() < majority ? Optional.empty() : Optional.of(greatestFirst.get(majority - 1));
    }
}
