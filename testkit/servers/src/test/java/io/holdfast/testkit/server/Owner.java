package io.holdfast.testkit.server;

/** Starts a server, prints its process id, and waits until it is killed. */
final class Owner {

    private Owner() {}

    public static void main(String[] args) throws InterruptedException {
        RedisServer redis = RedisServer.start();
        System.out.println("pid " + redis.pid().orElseThrow());
        Thread.currentThread().join();
        redis.close();
    }
}
