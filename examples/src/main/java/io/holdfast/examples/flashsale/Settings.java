package io.holdfast.examples.flashsale;

import io.holdfast.redis.RedisAddress;
import io.lettuce.core.RedisURI;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The settings of a sale.
 *
 * @param items how many items are for sale
 * @param buyers how many buyers come; each wants one item
 * @param withLock whether each visit is under the lock
 * @param lock the back end of the lock
 * @param localHandOver whether the tills of a shop hand the lock over inside the shop's JVM
 * @param redis the server of the caller; empty if the demo starts one
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
              --redlock        keep the lock on five Redis servers of its own; the demo kills two of them half way
              --zookeeper      keep the lock in a ZooKeeper server that the demo starts
              --without-lock   run the same sale without a lock
              --local-hand-over
                               run two sales; in the second one, each shop hands the lock over inside its JVM. The
                               result compares their visits per second. Not with --zookeeper or --without-lock
              --redis URI      use your Redis server for the stock, and for the lock unless --redlock or --zookeeper is
                               given, such as redis://:password@localhost:6379; by default the demo starts a server
              -h, --help       print this text
            exit status: 0 the sale kept all promises, 1 it broke one (such as: an item was sold twice), 2 it could not run
            """;

    private static final int MOST = 1_000_000;

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException if the command line is wrong; the message says why
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
