package io.holdfast.zookeeper.internal.operation;

import io.holdfast.zookeeper.internal.client.AsyncZooKeeper;
import io.holdfast.zookeeper.internal.client.Reply;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures;
import io.holdfast.zookeeper.internal.client.ZooKeeperFailures.Subject;
import io.holdfast.zookeeper.internal.session.Session;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks whether nodes are there, many with one transaction.
 *
 * @param session of all of them
 * @param subject what for
 */
record NodeCheck(Session session, AsyncZooKeeper zooKeeper, Subject subject) {

    /** Far below {@code jute.maxbuffer}, which is 1 MB by default. */
    static final int MOST_CHARACTERS = 200_000;

    /**
     * In the order of the paths. Asks once more when that does not prove much: of a session that was just found, and after a pause, the
     * second of two transactions proves more than the first.
     */
    Mono<List<Boolean>> areThere(List<String> paths) {
        return askAll(paths).flatMap(answers -> session.validity().suffices() ? Mono.just(answers) : askAll(paths));
    }

    private Mono<List<Boolean>> askAll(List<String> paths) {
        return Flux.fromIterable(parts(paths))
                .flatMapSequential(this::part)
                .flatMapIterable(answers -> answers)
                .collectList();
    }

    static List<List<String>> parts(List<String> paths) {
        List<List<String>> parts = new ArrayList<>();
        List<String> part = new ArrayList<>();
        int characters = 0;
        for (String path : paths) {
            if (!part.isEmpty() && characters + path.length() > MOST_CHARACTERS) {
                parts.add(part);
                part = new ArrayList<>();
                characters = 0;
            }
            part.add(path);
            characters += path.length();
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
        return parts;
    }

    /** The first that is not there ends the transaction, so those behind it are asked for once more. */
    private Mono<List<Boolean>> part(List<String> paths) {
        return zooKeeper.check(session, paths).flatMap(reply -> {
            if (!reply.isOk()) {
                return Mono.error(ZooKeeperFailures.of(subject, reply));
            }
            List<Boolean> answers = new ArrayList<>();
            for (Code code : reply.get()) {
                if (code == Code.OK) {
                    answers.add(true);
                } else if (code == Code.NONODE) {
                    answers.add(false);
                    break;
                } else {
                    return Mono.error(ZooKeeperFailures.of(subject, Reply.of(code.intValue(), reply.path(), null)));
                }
            }
            List<String> rest = paths.subList(answers.size(), paths.size());
            return rest.isEmpty()
                    ? Mono.just(answers)
                    : part(rest).map(more -> {
                        answers.addAll(more);
                        return answers;
                    });
        });
    }
}
