package io.holdfast.examples.flashsale;

import io.holdfast.redis.RedisAddress;
import io.lettuce.core.RedisURI;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What the caller asked for.
 *
 * @param items for sale
 * @param buyers each wants one
 * @param withLock whether each visit is under the lock
 * @param lock who guards it
 * @param localHandOver whether the tills of a shop hand the lock over in its memory
 * @param redis the caller's server; empty for one that the demo starts
 */
record Settings(
        int items,
        int buyers,
        boolean withLock,
        LockAddress.Kind lock,
        boolean localHandOver,
        Optional<RedisURI> redis) {

    static final String USAGE = """
            usage: flash-sale [--items N] [--buyers N] [--redlock | --zookeeper | --without-lock] [--local-hand-over] [--redis URI]
              --items N        how many items are for sale, from 1 to 1000000; default 1000
              --buyers N       how many buyers come, from 1 to 1000000; default 10000
              --redlock        the lock is at five servers of its own, and two of them are killed half way
              --zookeeper      the lock is in a ZooKeeper that the demo starts
              --without-lock   the same sale without the lock
              --local-hand-over
                               two sales, of which the second one hands the lock over inside each shop: shows how
                               many visits a second both had; not with --zookeeper or --without-lock
              --redis URI      a server of yours for the stock, and for the lock if there is nothing else, such as
                               redis://:password@localhost:6379; default: one of our own
              -h, --help       this text
            exit status: 0 kept all promises, 1 broke one (such as: an item was sold twice), 2 could not run
            """;

    private static final int MOST = 1_000_000;

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException if it cannot be understood, saying why
     */
    static Settings parse(List<String> arguments) {
        Settings settings = new Settings(1_000, 10_000, true, LockAddress.Kind.REDIS, false, Optional.empty());
        Iterator<String> words = arguments.iterator();
        while (words.hasNext()) {
            settings = settings.with(words.next(), words);
        }
        requireOneOf(arguments, List.of("--redlock", "--zookeeper", "--without-lock"));
        requireOneOf(arguments, List.of("--local-hand-over", "--zookeeper"));
        requireOneOf(arguments, List.of("--local-hand-over", "--without-lock"));
        return settings;
    }

    private static void requireOneOf(List<String> arguments, List<String> options) {
        List<String> given = options.stream().filter(arguments::contains).toList();
        if (given.size() > 1) {
            throw new IllegalArgumentException("%s exclude each other".formatted(String.join(" and ", given)));
        }
    }

    private Settings with(String option, Iterator<String> words) {
        return switch (option) {
            case "--items" -> new Settings(number(option, words), buyers, withLock, lock, localHandOver, redis);
            case "--buyers" -> new Settings(items, number(option, words), withLock, lock, localHandOver, redis);
            case "--without-lock" -> new Settings(items, buyers, false, lock, localHandOver, redis);
            case "--zookeeper" -> at(LockAddress.Kind.ZOOKEEPER);
            case "--redlock" -> at(LockAddress.Kind.REDLOCK);
            case "--local-hand-over" -> withLocalHandOver(true);
            case "--redis" ->
                new Settings(items, buyers, withLock, lock, localHandOver, Optional.of(uri(option, words)));
            default -> throw new IllegalArgumentException("unknown option '%s'".formatted(option));
        };
    }

    private Settings at(LockAddress.Kind kind) {
        return new Settings(items, buyers, withLock, kind, localHandOver, redis);
    }

    Settings withLocalHandOver(boolean isOn) {
        return new Settings(items, buyers, withLock, lock, isOn, redis);
    }

    private static String value(String option, Iterator<String> words) {
        if (!words.hasNext()) {
            throw new IllegalArgumentException("%s needs a value".formatted(option));
        }
        return words.next();
    }

    private static int number(String option, Iterator<String> words) {
        String value = value(option, words);
        boolean isNumber = value.matches("[0-9]{1,7}");
        int number = isNumber ? Integer.parseInt(value) : 0;
        if (number < 1 || number > MOST) {
            throw new IllegalArgumentException(
                    "%s must be a number from 1 to %d, was '%s'".formatted(option, MOST, value));
        }
        return number;
    }

    private static RedisURI uri(String option, Iterator<String> words) {
        String value = value(option, words);
        try {
            return RedisAddress.parse(value);
        } catch (IllegalArgumentException e) {
            // The value may hold a password: the message does not repeat it.
            throw new IllegalArgumentException(
                    "%s must be an address such as redis://localhost:6379: %s".formatted(option, e.getMessage()), e);
        }
    }
}
