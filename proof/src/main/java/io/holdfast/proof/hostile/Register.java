package io.holdfast.proof.hostile;

import io.holdfast.LockLease;
import java.util.List;
import reactor.core.publisher.Mono;

/** The data under the exclusive locks: one number for each lock. Registers refuse writes of former holders. */
interface Register extends AutoCloseable {

    /** Reads the number, waits, and writes the next number. Completes silently if the register refuses. */
    Mono<Void> increment(Resource resource, LockLease held, String writer, Mono<Void> pause);

    /** Returns the writes in their order. */
    List<Write> writes(Resource resource);

    long refused(Resource resource);

    /** Returns the writes that were committed after a later grant of their lock. */
    default List<String> late(Resource resource) {
        return List.of();
    }

    @Override
    void close();

    static Register open(String uri, Terms terms) {
        return uri.startsWith(PostgresAddress.SCHEME) ? new PostgresRegister(uri, terms) : new RedisRegister(uri);
    }

    /** An accepted write by an operation of a process. */
    record Write(long token, long number, String process, long operation) {

        static Write parse(String text) {
            String[] words = text.split("[ #]", 4);
            return new Write(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2], Long.parseLong(words[3]));
        }
    }
}
