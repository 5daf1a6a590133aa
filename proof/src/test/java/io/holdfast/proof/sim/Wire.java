package io.holdfast.proof.sim;

/**
 * One connection. It delivers all messages in order, or the first ones. When it is cut, messages under way arrive up to some moment, and the rest is lost.
 * Each end notices the cut at its own time.
 */
public final class Wire {

    private final World world;
    private final Network network;
    private final Host client;
    private final Server server;
    private Runnable atCut = () -> {};
    private long lastToServer;
    private long lastToClient;
    private long toServerUntil = Long.MAX_VALUE;
    private long toClientUntil = Long.MAX_VALUE;
    private boolean isClosedByClient;
    private boolean isCut;
    private boolean clientKnows;

    public Wire(Network network, Host client, Server server) {
        world = client.world();
        this.network = network;
        this.client = client;
        this.server = server;
        server.opened(this);
    }

    /** Runs when the client notices the loss of the connection; not if the client has closed it. */
    public void atCut(Runnable told) {
        atCut = told;
    }

    public Host client() {
        return client;
    }

    public Server server() {
        return server;
    }

    public boolean isUsable() {
        return !isCut && !isClosedByClient;
    }

    public void toServer(Runnable task) {
        lastToServer = Math.max(lastToServer + 1, network.arrival(client.name(), server.name(), false));
        long arrival = lastToServer;
        world.at(arrival, () -> {
            if (arrival <= toServerUntil) {
                server.receive(task);
            }
        });
    }

    public void toClient(Runnable task) {
        lastToClient = Math.max(lastToClient + 1, network.arrival(server.name(), client.name(), true));
        long arrival = lastToClient;
        world.at(arrival, () -> {
            if (arrival <= toClientUntil) {
                client.arrive(() -> {
                    if (!isClosedByClient && !clientKnows) {
                        task.run();
                    }
                });
            }
        });
    }

    /** The client closes the connection: it receives nothing any more, but its messages may still arrive. */
    public void close() {
        if (isClosedByClient) {
            return;
        }
        isClosedByClient = true;
        if (!isCut) {
            toServer(() -> server.closed(this));
        }
    }

    /** The network, or a device in between, cuts the connection. */
    public void cut() {
        if (!isUsable()) {
            return;
        }
        world.trace("the connection of %s to %s is cut", client.name(), server.name());
        isCut = true;
        toServerUntil = world.now() + (world.chance(0.5) ? 0 : world.between(0, World.ms(300)));
        toClientUntil = world.now() + (world.chance(0.5) ? 0 : world.between(0, World.ms(30)));
        tellClient(world.chance(0.8) ? world.between(0, World.ms(20)) : world.between(0, World.ms(3_000)));
        // A server notices a silent loss of the connection by its keep-alive.
        world.after(
                world.chance(0.8) ? world.between(0, World.ms(300)) : world.between(0, World.ms(5_000)),
                () -> server.closed(this));
    }

    /** The server closes the connection: its messages arrive, and then the end of the connection. */
    void closeByServer() {
        if (isUsable()) {
            isCut = true;
            toServerUntil = world.now() - 1;
            lastToClient = Math.max(lastToClient + 1, network.arrival(server.name(), client.name(), false));
            toClientUntil = lastToClient;
            tellClient(lastToClient - world.now());
        }
        server.closed(this);
    }

    void serverDied() {
        isCut = true;
        toServerUntil = world.now() - 1;
        if (world.chance(0.5)) {
            toClientUntil = world.now();
        }
        tellClient(world.between(0, World.ms(20)));
    }

    private void tellClient(long after) {
        world.after(
                after,
                () -> client.arrive(() -> {
                    if (!isClosedByClient) {
                        clientKnows = true;
                        atCut.run();
                    }
                }));
    }
}
