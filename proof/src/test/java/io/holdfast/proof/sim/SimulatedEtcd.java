package io.holdfast.proof.sim;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.etcd.jetcd.common.exception.EtcdExceptionFactory;
import io.etcd.jetcd.op.TxnImpl;
import io.etcd.jetcd.options.WatchOption;
import io.grpc.Status;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * A client of etcd that behaves like jetcd's. It has a connection to each member, and sends each request by the next one of them that is connected; if
 * there is none, it waits. What is under way when a connection ends fails. A watch then opens again by itself, half a second later.
 */
final class SimulatedEtcd {

    private static final long WATCHES_AGAIN = World.ms(500);

    private final Host host;
    private final World world;
    private final Network network;
    private final EtcdGroup group;
    private final WrongEtcd wrong;
    private final List<Channel> channels = new ArrayList<>();
    private final Deque<Consumer<Channel>> waiting = new ArrayDeque<>();
    private int next;

    private SimulatedEtcd(Host host, Network network, EtcdGroup group, WrongEtcd wrong) {
        this.host = host;
        world = host.world();
        this.network = network;
        this.group = group;
        this.wrong = wrong;
        group.members().forEach(it -> channels.add(new Channel(it)));
        channels.forEach(Channel::dial);
    }

    /** Makes a client that is about to connect. */
    static Client client(Host host, Network network, EtcdGroup group, WrongEtcd wrong) {
        return new SimulatedEtcd(host, network, group, wrong).face();
    }

    private Client face() {
        KV kv = proxy(KV.class, (self, method, args) -> switch (method.getName()) {
            case "txn" -> TxnImpl.newTxn(this::commit, ByteSequence.EMPTY);
            default -> throw new UnsupportedOperationException("not simulated: " + method);
        });
        Lease lease = proxy(Lease.class, (self, method, args) -> switch (method.getName()) {
            case "grant" -> grant((long) args[0]);
            case "keepAliveOnce" -> keepAlive((long) args[0]);
            default -> throw new UnsupportedOperationException("not simulated: " + method);
        });
        Watch watch = proxy(Watch.class, (self, method, args) -> {
            Watching watching = new Watching((ByteSequence) args[0], (WatchOption) args[1], (Watch.Listener) args[2]);
            watching.open();
            return watching;
        });
        return proxy(Client.class, (self, method, args) -> switch (method.getName()) {
            case "getKVClient" -> kv;
            case "getLeaseClient" -> lease;
            case "getWatchClient" -> watch;
            case "toString" -> "etcd client of " + host;
            default -> throw new UnsupportedOperationException("not simulated: " + method);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler calls) {
        return type.cast(Proxy.newProxyInstance(SimulatedEtcd.class.getClassLoader(), new Class<?>[] {type}, calls));
    }

    private CompletableFuture<io.etcd.jetcd.kv.TxnResponse> commit(TxnRequest request) {
        TxnRequest sent = wrong.sent(request);
        return call(
                (channel, answer) -> channel.member.ask(channel.wire, EtcdMember.txn(sent), answer),
                it -> new io.etcd.jetcd.kv.TxnResponse((TxnResponse) it, ByteSequence.EMPTY));
    }

    private CompletableFuture<io.etcd.jetcd.lease.LeaseGrantResponse> grant(long seconds) {
        return call(
                (channel, answer) -> channel.member.ask(
                        channel.wire,
                        data -> {
                            long id = group.nextLease();
                            data.grant(id, Math.max(seconds, 2));
                            return id;
                        },
                        answer),
                id -> new io.etcd.jetcd.lease.LeaseGrantResponse(LeaseGrantResponse.newBuilder()
                        .setID((long) id)
                        .setTTL(wrong.seconds(Math.max(seconds, 2)))
                        .build()));
    }

    private CompletableFuture<io.etcd.jetcd.lease.LeaseKeepAliveResponse> keepAlive(long lease) {
        return call((channel, answer) -> channel.member.renew(channel.wire, lease, answer), seconds -> {
            if ((long) seconds == 0) {
                throw Status.NOT_FOUND
                        .withDescription("etcdserver: requested lease not found")
                        .asRuntimeException();
            }
            return new io.etcd.jetcd.lease.LeaseKeepAliveResponse(LeaseKeepAliveResponse.newBuilder()
                    .setID(lease)
                    .setTTL(wrong.seconds((long) seconds))
                    .build());
        });
    }

    private interface Request {
        void sendBy(Channel channel, Consumer<Object> answer);
    }

    private <T> CompletableFuture<T> call(Request request, Function<Object, T> read) {
        CompletableFuture<T> future = new CompletableFuture<>();
        whenConnected(channel -> {
            Consumer<Object> call = outcome -> {
                try {
                    if (outcome instanceof Throwable error) {
                        throw error;
                    }
                    future.complete(read.apply(outcome));
                } catch (Throwable error) {
                    future.completeExceptionally(EtcdExceptionFactory.toEtcdException(error));
                }
            };
            channel.calls.add(call);
            channel.wire.toServer(() -> request.sendBy(channel, outcome -> {
                if (channel.calls.remove(call)) {
                    call.accept(outcome);
                }
            }));
        });
        return future;
    }

    private void whenConnected(Consumer<Channel> task) {
        for (int i = 0; i < channels.size(); i++) {
            Channel channel = channels.get(next++ % channels.size());
            if (channel.isReady) {
                task.accept(channel);
                return;
            }
        }
        waiting.add(task);
    }

    private void later(long nanos, Runnable task) {
        Disposable unused = host.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /** The connection to one member. */
    private final class Channel {

        private final EtcdMember member;

        /** Calls and watches under way; each gets an error if the connection ends. */
        private Set<Consumer<Object>> calls = new LinkedHashSet<>();

        private Wire wire;
        private boolean isReady;

        Channel(EtcdMember member) {
            this.member = member;
        }

        void dial() {
            Wire dialled = new Wire(network, host, member);
            wire = dialled;
            dialled.atCut(() -> lost(dialled));
            if (!member.isUp()) {
                lost(dialled);
                return;
            }
            dialled.toServer(() -> dialled.toClient(() -> {
                isReady = true;
                while (!waiting.isEmpty()) {
                    waiting.poll().accept(this);
                }
            }));
        }

        private void lost(Wire which) {
            if (wire != which) {
                return;
            }
            which.close();
            isReady = false;
            Set<Consumer<Object>> failed = calls;
            calls = new LinkedHashSet<>();
            failed.forEach(it ->
                    it.accept(Status.UNAVAILABLE.withDescription("io exception").asRuntimeException()));
            later(world.between(World.ms(100), World.ms(1_000)), this::dial);
        }
    }

    private final class Watching implements Watch.Watcher {

        private final ByteSequence key;
        private final WatchOption option;
        private final Watch.Listener listener;
        private long from;
        private @Nullable Channel by;
        private @Nullable Object number;
        private boolean isClosed;

        Watching(ByteSequence key, WatchOption option, Watch.Listener listener) {
            this.key = key;
            this.option = option;
            this.listener = listener;
            from = option.getRevision();
        }

        void open() {
            whenConnected(channel -> {
                if (isClosed) {
                    return;
                }
                Object mine = new Object();
                number = mine;
                by = channel;
                Consumer<Object> told = what -> told(mine, what);
                channel.calls.add(told);
                WatchCreateRequest wish = wish();
                Wire wire = channel.wire;
                wire.toServer(() -> channel.member.watch(wire, mine, wish, option.withRequireLeader(), told));
            });
        }

        private WatchCreateRequest wish() {
            ByteString bytes = ByteString.copyFrom(key.getBytes());
            WatchCreateRequest.Builder wish = WatchCreateRequest.newBuilder()
                    .setKey(bytes)
                    .setStartRevision(from)
                    .setPrevKv(option.isPrevKV());
            if (option.isPrefix()) {
                byte[] end = key.getBytes();
                end[end.length - 1]++;
                wish.setRangeEnd(ByteString.copyFrom(end));
            }
            if (option.isNoPut()) {
                wish.addFilters(WatchCreateRequest.FilterType.NOPUT);
            }
            if (option.isNoDelete()) {
                wish.addFilters(WatchCreateRequest.FilterType.NODELETE);
            }
            return wish.build();
        }

        private void told(Object mine, Object what) {
            if (mine != number || isClosed) {
                return;
            }
            if (what instanceof WatchResponse response && !response.getCanceled()) {
                from = response.getEvents(response.getEventsCount() - 1).getKv().getModRevision() + 1;
                listener.onNext(new io.etcd.jetcd.watch.WatchResponse(response, ByteSequence.EMPTY));
                return;
            }
            number = null;
            if (what instanceof WatchResponse response) {
                isClosed = true;
                listener.onError(EtcdExceptionFactory.newCompactedException(response.getCompactRevision()));
                return;
            }
            Throwable error = (Throwable) what;
            listener.onError(EtcdExceptionFactory.toEtcdException(error));
            if (Status.fromThrowable(error).getDescription().contains("no leader")) {
                isClosed = true;
            } else {
                later(WATCHES_AGAIN, this::open);
            }
        }

        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                Channel open = by;
                Object ended = number;
                if (open != null && ended != null && open.isReady) {
                    open.wire.toServer(() -> open.member.unwatch(ended));
                }
                listener.onCompleted();
            }
        }

        @Override
        public boolean isClosed() {
            return isClosed;
        }

        @Override
        public void requestProgress() {
            throw new UnsupportedOperationException("not simulated");
        }
    }
}
