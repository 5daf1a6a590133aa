package io.holdfast.testkit.server;

/** Starts a server, tells its process id, and waits to be killed. */
final class Owner {

    private Owner() {}

    public static void main(String[] args) throws InterruptedException {
        RedisServer redis = RedisServer.start();
        System.out.println("pid " + redis.pid().orElseThrow());
        Thread.currentThread().join();
        redis.close();
    }
}
