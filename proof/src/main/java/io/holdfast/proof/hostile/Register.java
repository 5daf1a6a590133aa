package io.holdfast.proof.hostile;

import io.holdfast.LockLease;
import java.util.List;
import reactor.core.publisher.Mono;

/** What the exclusive locks protect: one number for each. It is guarded against writes of former holders. */
interface Register extends AutoCloseable {

    /** Reads, waits, and writes one more than what it has read; ends silently where it is refused. */
    Mono<Void> increment(Resource resource, LockLease held, String writer, Mono<Void> pause);

    /** What was written, in the order in which it was. */
    List<Write> writes(Resource resource);

    long refused(Resource resource);

    /** Writes that were committed after a later grant of their lock. */
    default List<String> late(Resource resource) {
        return List.of();
    }

    @Override
    void close();

    static Register open(String uri, Terms terms) {
        return uri.startsWith(PostgresAddress.SCHEME) ? new PostgresRegister(uri, terms) : new RedisRegister(uri);
    }

    /** A write that was taken, by an operation of a process. */
    record Write(long token, long number, String process, long operation) {

        static Write parse(String text) {
            String[] words = text.split("[ #]", 4);
            return new Write(Long.parseLong(words[0]), Long.parseLong(words[1]), words[2], Long.parseLong(words[3]));
        }
    }
}
