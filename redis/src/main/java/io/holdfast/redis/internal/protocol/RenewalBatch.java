package io.holdfast.redis.internal.protocol;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Claims to renew at once: one part, and so one request, for each of the scripts that they need. */
public final class RenewalBatch {

    private final List<LockClaim> claims;
    private final Map<LockScripts, List<LockClaim>> parts;

    private RenewalBatch(List<LockClaim> claims, Map<LockScripts, List<LockClaim>> parts) {
        this.claims = claims;
        this.parts = parts;
    }

    public static RenewalBatch of(List<LockClaim> claims) {
        LockScripts first = LockScripts.of(claims.get(0));
        if (claims.stream().allMatch(claim -> LockScripts.of(claim) == first)) {
            return new RenewalBatch(claims, Map.of(first, claims));
        }
        Map<LockScripts, List<LockClaim>> parts = new LinkedHashMap<>();
        claims.forEach(claim -> parts.computeIfAbsent(LockScripts.of(claim), scripts -> new ArrayList<>())
                .add(claim));
        return new RenewalBatch(claims, parts);
    }

    public List<List<LockClaim>> parts() {
        return List.copyOf(parts.values());
    }

    /** Puts the answers of the parts into the order of the claims. */
    public List<Renewal> inOrder(List<List<Renewal>> answers) {
        if (answers.size() == 1) {
            return answers.get(0);
        }
        Map<LockScripts, Iterator<Renewal>> byScripts = new HashMap<>();
        int part = 0;
        for (LockScripts scripts : parts.keySet()) {
            byScripts.put(scripts, answers.get(part++).iterator());
        }
        return claims.stream()
                .map(claim ->
                        requireNonNull(byScripts.get(LockScripts.of(claim))).next())
                .toList();
    }
}
