package io.holdfast.proof.hostile;

import io.holdfast.testkit.server.RedisServer;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The users of all Redis servers of a campaign. Operators have all rights and no password. The clients have a password and the rights that the
 * documentation names. A tenant has rights to the channels only. All users are in one file, which a server reads at each start. Another file has
 * the password, like a vault: clients read it for each connection.
 */
final class RedisUsers {

    /** The user of the lock clients. */
    static final String CLIENT = "holdfast";

    /** The user of another application on the same server. */
    static final String TENANT = "tenant";

    /** The rights from docs/operate/redis.md, and those for a cluster, the quarantine and confirmed grants. */
    static final String RIGHTS =
            "resetkeys ~holdfast:* resetchannels &holdfast:* -@all +hello +auth +ping +evalsha +eval +script|load"
                    + " +subscribe +unsubscribe +publish +pubsub|numsub +time +exists +del +get +set +hget +hmget +hset"
                    + " +hdel +hlen +hrandfield +pexpire +pttl +zadd +zcard +zrem +zrange +zrank +zscore +zmscore"
                    + " +hsetnx +zrangebyscore +zrangebylex +zrandmember +zremrangebyrank +zremrangebyscore +setrange +rpush +ltrim"
                    + " +lpos +llen +lrange"
                    + " +info +wait +cluster|slots +asking";

    private final Path file;
    private final Path secret;

    /** Written by the thread that rotates passwords. */
    private int rotations;

    private RedisUsers(Path folder) {
        file = folder.resolve("users.acl");
        secret = folder.resolve("password.txt");
    }

    /** Writes both files. */
    static RedisUsers in(Path folder) {
        RedisUsers users = new RedisUsers(folder.toAbsolutePath());
        users.accept(List.of(users.password()));
        users.hand(users.password());
        return users;
    }

    /** Returns the arguments for the start of a server. */
    List<String> arguments() {
        return List.of("--aclfile", file.toString());
    }

    /** Returns the file with the current password. */
    String secret() {
        return secret.toString();
    }

    private String password() {
        return "password-" + rotations;
    }

    /** Reads the file for each connection, as clients with changing passwords do. */
    static RedisCredentialsProvider clientOf(Path secret) {
        return () -> Mono.fromCallable(() -> RedisCredentials.just(CLIENT, Files.readString(secret)))
                .subscribeOn(Schedulers.boundedElastic());
    }

    /** During the strike both passwords are valid. Then the old one is not, and its connections are ended. */
    void rotate(List<RedisServer> servers, Strike strike) throws InterruptedException {
        String old = password();
        rotations++;
        accept(List.of(old, password()));
        for (RedisServer server : servers) {
            Orders.insist(server, redis -> redis.aclSetuser(CLIENT, AclSetuserArgs.Builder.addPassword(password())));
        }
        hand(password());
        strike.last();
        accept(List.of(password()));
        for (RedisServer server : servers) {
            // A server that restarted meanwhile does not know the old password: its removal would be an error.
            Orders.insist(
                    server,
                    redis -> redis.aclSetuser(
                            CLIENT, AclSetuserArgs.Builder.resetpass().addPassword(password())));
            boolean unused = Orders.attempt(server, redis -> redis.clientKill(KillArgs.Builder.user(CLIENT)));
        }
    }

    private void accept(List<String> passwords) {
        String words = passwords.stream().map(">%s"::formatted).collect(Collectors.joining(" "));
        write(file, """
                user default on nopass ~* &* +@all
                user %s on %s %s
                user %s on nopass resetkeys allchannels -@all +subscribe +psubscribe +publish
                """.formatted(CLIENT, words, RIGHTS, TENANT));
    }

    private void hand(String password) {
        write(secret, password);
    }

    /** Replaces a file atomically: a reader sees the old text or the new one. */
    private static void write(Path file, String text) {
        try {
            Path written = Files.writeString(file.resolveSibling(file.getFileName() + ".new"), text);
            Path unused =
                    Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the users", e);
        }
    }
}
