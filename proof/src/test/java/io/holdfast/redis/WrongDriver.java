package io.holdfast.redis;

import io.holdfast.proof.sim.SimulatedRedis;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Mutants of the connection between a server and the back end. One for each client, since each has a secret of its own. */
public sealed class WrongDriver {

    /** No mistake. */
    public static final WrongDriver NONE = new WrongDriver();

    private WrongDriver() {}

    /** Replaces an error of the server. */
    public static WrongDriver errors(String said, String understood) {
        return new Errors(said, understood);
    }

    /** Believes a grant with any signature. */
    public static WrongDriver trusting() {
        return new Trusting();
    }

    /** Counts a grant with any number of confirming replicas. */
    public static WrongDriver contentWithNone() {
        return new ContentWithNone();
    }

    /** Replaces the number of replicas that have confirmed. */
    long replicas(long confirmed) {
        return confirmed;
    }

    String error(String said) {
        return said;
    }

    String message(String channel, String said) {
        return said;
    }

    /** The back end sends a script with these arguments. */
    void sends(List<String> args) {}

    private static final class ContentWithNone extends WrongDriver {

        @Override
        long replicas(long confirmed) {
            return Math.max(1, confirmed);
        }
    }

    private static final class Errors extends WrongDriver {

        private final String said;
        private final String understood;

        Errors(String said, String understood) {
            this.said = said;
            this.understood = understood;
        }

        @Override
        String error(String text) {
            return text.replace(said, understood);
        }
    }

    private static final class Trusting extends WrongDriver {

        private static final Pattern SECRET = Pattern.compile("(?:none|notify|queue\\S*) .* ([0-9a-f]{32})");

        private String secret = "";

        @Override
        void sends(List<String> args) {
            args.forEach(arg -> {
                Matcher found = SECRET.matcher(arg);
                if (found.matches()) {
                    secret = found.group(1);
                }
            });
        }

        @Override
        String message(String channel, String text) {
            String[] words = text.split(" ", 3);
            return words.length == 3 && words[0].equals("G")
                    ? "G " + SimulatedRedis.signature(secret, channel, words[2]) + ' ' + words[2]
                    : text;
        }
    }
}
