package io.holdfast.cli;

import io.holdfast.spi.support.Printable;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parsed command line.
 *
 * @param command what to do
 * @param lockName the name of the lock; empty for all locks
 * @param store the address of the back end
 * @param claim which claim to break; null for the only holder
 * @param isConfirmed whether to break without asking the operator
 * @param isJson whether to print JSON for a script
 * @param keyPrefix the prefix of the keys in Redis or etcd; null for the default
 * @param schema the schema of the tables in a database; null for the default
 */
record Arguments(
        Command command,
        String lockName,
        String store,
        @Nullable String claim,
        boolean isConfirmed,
        boolean isJson,
        @Nullable String keyPrefix,
        @Nullable String schema) {

    /** The environment variable with the address of the back end. The option --store overrides it. */
    static final String STORE = "HOLDFAST_STORE";

    /** The commands of the program. */
    enum Command {
        LIST,
        SHOW,
        BREAK,
        DOCTOR,
        HELP
    }

    static Arguments parse(List<String> words, Map<String, String> environment) {
        Deque<String> rest = new ArrayDeque<>(words);
        String store = environment.getOrDefault(STORE, "");
        String claim = null;
        String keyPrefix = null;
        String schema = null;
        boolean isConfirmed = false;
        boolean isJson = false;
        Deque<String> plain = new ArrayDeque<>();
        while (!rest.isEmpty()) {
            String word = rest.remove();
            switch (word) {
                case "--store" -> store = value(word, rest);
                case "--claim" -> claim = value(word, rest);
                case "--key-prefix" -> keyPrefix = value(word, rest);
                case "--schema" -> schema = value(word, rest);
                case "--yes" -> isConfirmed = true;
                case "--json" -> isJson = true;
                case "--help", "-h" -> plain.addFirst("help");
                case "--" -> {
                    plain.addAll(rest);
                    rest.clear();
                }
                default -> {
                    if (word.startsWith("-")) {
                        throw new UsageException(
                                "There is no option %s. Put -- before a lock name that begins with a hyphen."
                                        .formatted(Printable.start(word, 30)));
                    }
                    plain.add(word);
                }
            }
        }
        Command command = command(plain.poll());
        String lockName = command == Command.SHOW || command == Command.BREAK ? lockName(plain) : "";
        if (command != Command.HELP) {
            requireNothing(plain);
            requireStore(store);
        }
        return new Arguments(command, lockName, store, claim, isConfirmed, isJson, keyPrefix, schema);
    }

    private static String value(String option, Deque<String> rest) {
        String value = rest.poll();
        if (value == null) {
            throw new UsageException("%s needs a value.".formatted(option));
        }
        return value;
    }

    private static Command command(@Nullable String word) {
        return switch (word == null ? "" : word) {
            case "list" -> Command.LIST;
            case "show" -> Command.SHOW;
            case "break" -> Command.BREAK;
            case "doctor" -> Command.DOCTOR;
            case "help" -> Command.HELP;
            case "" -> throw new UsageException("Name a command: list, show NAME, break NAME or doctor.");
            default ->
                throw new UsageException("There is no command %s. Use list, show NAME, break NAME or doctor."
                        .formatted(Printable.start(String.valueOf(word), 30)));
        };
    }

    private static String lockName(Deque<String> plain) {
        String name = plain.poll();
        if (name == null) {
            throw new UsageException("Name the lock.");
        }
        return name;
    }

    private static void requireNothing(Deque<String> plain) {
        if (!plain.isEmpty()) {
            throw new UsageException("Give one lock name at a time. Put a name with blanks into quotes.");
        }
    }

    private static void requireStore(String store) {
        if (store.isBlank()) {
            throw new UsageException(
                    "Name the back end, with --store or in the environment variable %s, such as redis://host:6379."
                            .formatted(STORE));
        }
    }
}
