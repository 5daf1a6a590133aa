package io.holdfast.testkit.server;

import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts a PostgreSQL, pauses it, prints the process ids of the server, and waits until it is killed. */
final class PostgresOwner {

    private PostgresOwner() {}

    public static void main(String[] args) throws InterruptedException {
        PostgresServer postgres = PostgresServer.run("fsync=off");
        ProcessHandle first = ProcessHandle.of(postgres.pid()).orElseThrow();
        String all = Stream.concat(Stream.of(first), first.children())
                .map(it -> Long.toString(it.pid()))
                .collect(Collectors.joining(" "));
        postgres.pause();
        System.out.println(all);
        Thread.currentThread().join();
        postgres.close();
    }
}
