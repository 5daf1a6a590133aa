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
 * Checks whether nodes exist, many in one transaction.
 *
 * @param session the session of all nodes
 * @param subject for messages
 */
record NodeCheck(Session session, AsyncZooKeeper zooKeeper, Subject subject) {

    /** Far below {@code jute.maxbuffer}, which is 1 MB by default. */
    static final int MOST_CHARACTERS = 200_000;

    /**
     * Emits an answer for each path, in their order. Sends the check again if the first one does not prove enough: after the session was
     * just found, or after a pause, the second of two transactions proves more than the first.
     */
    Mono<List<Boolean>> areThere(List<String> paths) {
        Mono<List<Boolean>> all = ask(parts(paths));
        return all.flatMap(answers -> session.validity().suffices() ? Mono.just(answers) : all);
    }

    private Mono<List<Boolean>> ask(List<List<String>> parts) {
        return Flux.fromIterable(parts)
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

    /** The first missing node ends the transaction. The nodes after it are checked in two others, since many may be missing. */
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
                    : ask(halves(rest)).map(more -> {
                        answers.addAll(more);
                        return answers;
                    });
        });
    }

    private static List<List<String>> halves(List<String> paths) {
        int half = paths.size() / 2;
        List<String> last = paths.subList(half, paths.size());
        return half == 0 ? List.of(last) : List.of(paths.subList(0, half), last);
    }
}
