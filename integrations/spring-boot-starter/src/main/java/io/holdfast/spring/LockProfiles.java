package io.holdfast.spring;

import io.holdfast.LockOptions;
import io.holdfast.spring.HoldfastProperties.Profile;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Options of locks by their names, from {@code holdfast.locks}. A pattern is a name, or the beginning of names and an asterisk. A name has
 * precedence, then the longest beginning; only one profile counts.
 */
final class LockProfiles {

    private static final String ANY_END = "*";

    private record Family(String beginning, LockOptions options) {}

    private final Map<String, LockOptions> byName = new HashMap<>();

    /** Longer beginnings first. */
    private final List<Family> byBeginning;

    private LockProfiles(Map<String, LockOptions> byPattern) {
        byPattern.forEach((pattern, options) -> {
            if (!pattern.endsWith(ANY_END)) {
                byName.put(pattern, options);
            }
        });
        byBeginning = byPattern.entrySet().stream()
                .filter(profile -> profile.getKey().endsWith(ANY_END))
                .map(profile -> new Family(withoutAsterisk(profile.getKey()), profile.getValue()))
                .sorted((one, other) -> Integer.compare(
                        other.beginning().length(), one.beginning().length()))
                .toList();
    }

    /**
     * Reads the profiles.
     *
     * @param profiles the changed options of each pattern
     * @param defaults all other options
     * @throws InvalidLockPropertiesException if a pattern is not valid, or options of one profile do not fit together
     */
    static LockProfiles of(Map<String, Profile> profiles, LockOptions defaults) {
        Map<String, LockOptions> byPattern = new HashMap<>();
        profiles.forEach((pattern, profile) -> {
            requirePattern(pattern);
            byPattern.put(
                    pattern, InvalidLockPropertiesException.orRefused(path(pattern), () -> profile.over(defaults)));
        });
        return new LockProfiles(byPattern);
    }

    private static void requirePattern(String pattern) {
        if (pattern.isBlank() || withoutAsterisk(pattern).contains(ANY_END)) {
            throw new InvalidLockPropertiesException(
                    "%s is not a pattern of lock names.".formatted(path(pattern)),
                    "Write a name, or the beginning of names and one asterisk, such as holdfast.locks.[stock/*].");
        }
    }

    private static String withoutAsterisk(String pattern) {
        return pattern.endsWith(ANY_END) ? pattern.substring(0, pattern.length() - 1) : pattern;
    }

    /** Returns the path as an application writes it. */
    static String path(String pattern) {
        return "holdfast.locks.[%s]".formatted(pattern);
    }

    boolean isEmpty() {
        return byName.isEmpty() && byBeginning.isEmpty();
    }

    /** Returns the options of the profile for a lock; empty if there is none. */
    Optional<LockOptions> of(String lockName) {
        LockOptions own = byName.get(lockName);
        if (own != null) {
            return Optional.of(own);
        }
        return byBeginning.stream()
                .filter(family -> lockName.startsWith(family.beginning()))
                .findFirst()
                .map(Family::options);
    }

    /** Returns all options. The key is the pattern as an application writes it. */
    Map<String, LockOptions> all() {
        Map<String, LockOptions> all = new HashMap<>();
        byName.forEach((name, options) -> all.put(path(name), options));
        byBeginning.forEach(family -> all.put(path(family.beginning() + ANY_END), family.options()));
        return all;
    }
}
