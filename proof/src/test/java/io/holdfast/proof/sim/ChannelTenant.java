package io.holdfast.proof.sim;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * A user of a simulated Redis with rights to its channels only. It reads all messages, and publishes them again, at once and late, on their own
 * channel and on others, as they were and changed: longer, with another token, for another claim. It draws no random numbers: a schedule
 * goes as it would without it, but for what its messages do.
 */
final class ChannelTenant {

    /** In messages. More than that would be a flood, which the world has no use for. */
    private static final int MOST = 60;

    private static final int WORDS_OF_A_GRANT = 8;

    private final World world;
    private final long lease;
    private final BiConsumer<String, String> publish;
    private final Set<String> channels = new LinkedHashSet<>();
    private int published;

    /** Claims that it knows to be waiting; and the secret of a client, if that was ever in a message. */
    private final Set<String> waiting = new LinkedHashSet<>();

    private String secret = "";

    /**
     * Has read nothing.
     *
     * @param lease how late is late, in nanoseconds
     * @param publish takes a channel and a message
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
        } else if (words[0].equals("H")) {
            waiting.add(words[2]);
        } else if (words[0].equals("G") && words.length == WORDS_OF_A_GRANT) {
            for (long when : new long[] {0, lease / 8, lease, 2 * lease}) {
                channels.forEach(other -> later(when, other, message));
                forge(when, channel, words);
            }
        }
    }

    /** Another token, much longer, and for whoever waits. */
    private void forge(long when, String channel, String[] words) {
        waiting.add(words[6]);
        for (String id : waiting) {
            for (String attempt : new String[] {words[3], "1", "2"}) {
                String forged = "9000000000000000 " + attempt + ' ' + lease / 1_000_000 + ' ' + id.length() + ' ' + id
                        + ' ' + words[7];
                later(when, channel, "G " + signature(channel, forged, words[1]) + ' ' + forged);
            }
        }
    }

    private String signature(String channel, String text, String seen) {
        return secret.isEmpty()
                ? seen
                : SimulatedRedis.signature(secret, channel, text);
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
