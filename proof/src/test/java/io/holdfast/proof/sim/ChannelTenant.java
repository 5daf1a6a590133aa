package io.holdfast.proof.sim;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * A user of a simulated Redis with rights to its channels only. It reads all messages and publishes them again, at once and late, on their own
 * channel and on others. It repeats them unchanged, with a longer lease, with another token, or for another claim. It floods waiters with hints and
 * with nonsense. It draws no random numbers, so only its messages change a schedule.
 */
final class ChannelTenant {

    /** The most grants that it repeats or forges in one schedule. */
    private static final int MOST = 60;

    private static final int WORDS_OF_A_GRANT = 8;

    /** Nonsense, and messages that resemble grants. A percent sign stands for the id of a waiter. */
    private static final List<String> NONSENSE = List.of(
            "",
            " ",
            "\uFFFD\uFFFD\u0000",
            "G",
            "G ",
            "G x",
            "G  1 1 1 1 % holdfast:{stock0}:mutex",
            "G x NaN 1 300 4 % holdfast:{stock0}:mutex",
            "G x -1 -1 -1 -1 % holdfast:{stock0}:mutex",
            "G x 9223372036854775808 1 1e308 4 % holdfast:{stock0}:mutex",
            "G x 9000000000000000 1 99999999999999999999 2147483648 % holdfast:{stock0}:mutex",
            "G x \u0661 \u0661 \u0661 \u0661 % holdfast:{stock0}:mutex",
            "G x 1 1 300 0  %",
            "L",
            "L x 1 4 % holdfast:{stock0}:mutex",
            "L x 1 0  %",
            "H 0 %",
            "C",
            "C ",
            "C %",
            "C % ",
            "C no such claim",
            "B",
            "X 1");

    /** Messages to one claim at one moment. */
    private static final int FLOOD = 40;

    /** The most messages in one schedule; more would take long. */
    private static final int MOST_NONSENSE = 140;

    private final World world;
    private final long lease;
    private final BiConsumer<String, String> publish;
    private final Set<String> channels = new LinkedHashSet<>();
    private int published;
    private int said;

    /** Waiters that it knows; and the secret of a client, if a message ever contained it. */
    private final Set<String> waiting = new LinkedHashSet<>();

    private String secret = "";

    /**
     * Makes a tenant that has read no message.
     *
     * @param lease the delay of late messages, in nanoseconds
     * @param publish receives a channel and a message
     */
    ChannelTenant(World world, long lease, BiConsumer<String, String> publish) {
        this.world = world;
        this.lease = lease;
        this.publish = publish;
    }

    void read(String channel, String message) {
        channels.add(channel);
        String[] words = message.split(" ", WORDS_OF_A_GRANT);
        if (words[0].equals("X")) {
            secret = words[1];
        } else if (words[0].equals("G") && words.length == WORDS_OF_A_GRANT) {
            for (long when : new long[] {0, lease / 8, lease, 2 * lease}) {
                channels.forEach(other -> later(when, other, message));
                forge(when, channel, words);
            }
            talkNonsense(first(words[6]));
        } else if (words[0].equals("C")) {
            talkNonsense(message.substring(2));
        }
    }

    /** Sends a claim that waits, or waited a moment ago, nonsense and more hints than it can act on. */
    private void talkNonsense(String id) {
        for (String text : NONSENSE) {
            say(text.replace("%", id));
        }
        for (int i = 0; i < FLOOD; i++) {
            say("C " + id);
        }
    }

    private void say(String text) {
        if (said++ < MOST_NONSENSE) {
            long when = lease / 16 * (said % 4);
            world.after(when, () -> List.copyOf(channels).forEach(to -> publish.accept(to, text)));
        }
    }

    /** Forges grants with another token, with a much longer lease, and for other waiters. */
    private void forge(long when, String channel, String[] words) {
        waiting.add(first(words[6]));
        for (String id : waiting) {
            for (String attempt : new String[] {words[3], "1", "2"}) {
                String forged = "9000000000000000 " + attempt + ' ' + lease / 1_000_000 + ' ' + id.length() + ' ' + id
                        + ' ' + words[7];
                later(when, channel, "G " + signature(channel, forged, words[1]) + ' ' + forged);
            }
        }
    }

    /** Several ids are those of a run. */
    private static String first(String ids) {
        return ids.lines().findFirst().orElseThrow();
    }

    private String signature(String channel, String text, String seen) {
        return secret.isEmpty() ? seen : SimulatedRedis.signature(secret, channel, text);
    }

    private void later(long when, String channel, String message) {
        if (published++ < MOST) {
            world.after(when, () -> {
                world.trace("    a tenant publishes on %s: %s", channel, message);
                publish.accept(channel, message);
            });
        }
    }
}
