package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.redis.RedisLockBackend;
import io.holdfast.redis.SimulatedDriver;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.ForwardingLockBackend;
import io.lettuce.core.RedisURI;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One simulated Redis, in some schedules with a replica, and the real back end in each process. */
final class RedisStore implements Store {

    /** One of this many schedules has a replica. */
    private static final int SELDOM = 5;

    private final Network network;
    private final Mutant mutant;
    private final Plan plan;
    private final SimulatedRedis server;
    private final @Nullable RedisPair pair;
    private final RedisURI uri;
    private final boolean confirms;
    private final boolean tracks;
    private boolean isTraced;

    RedisStore(World world, Network network, Mutant mutant, Plan plan) {
        this.network = network;
        this.mutant = mutant;
        this.plan = plan;
        double rate = Clocks.rate(world);
        long ahead = Clocks.ahead(world);
        server = new SimulatedRedis(world, "redis", rate, ahead, mutant.script());
        if (ahead % 2 != 0) { // bits of an earlier random number, so that the world need not draw another one
            server.admit(new ChannelTenant(world, plan.lease().toNanos(), server::deliver));
        }
        SplittableRandom chances = world.chancesOf("replicas", 0);
        boolean isReplicated = !plan.isTight() && !plan.is(Plan.Weather.CALM) && chances.nextInt(SELDOM) == 0;
        long lease = plan.lease().toNanos();
        long lag = chances.nextBoolean() ? World.ms(1) : lease / (plan.is(Plan.Weather.WILD) ? 3 : 20);
        pair = isReplicated
                ? new RedisPair(
                        world, lease, lag, server, new SimulatedRedis(world, "replica", rate, ahead, mutant.script()))
                : null;
        uri = isReplicated && chances.nextBoolean()
                ? RedisURI.Builder.sentinel("sentinel", "redis").build()
                : RedisURI.create("redis://redis");
        confirms = isReplicated && chances.nextInt(3) == 0;
        tracks = chances.nextInt(SELDOM) == 0;
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        LockBackend backend = SimulatedDriver.backend(
                host,
                network,
                uri,
                () -> pair == null ? server : pair.named(),
                this::options,
                mutant.driver().get(),
                identity.name());
        LockBackend member = mutant.member().apply(host, confirms ? checked(host, backend) : backend);
        return mutant.backend().apply(host, isTraced ? withoutRuns(member) : member);
    }

    @Override
    public void writesTo(QueueTrace to) {
        isTraced = true;
        server.writesTo(to);
        if (pair != null) {
            to.end("a replica");
        }
    }

    private static LockBackend withoutRuns(LockBackend backend) {
        Set<LockFeature> features = EnumSet.copyOf(backend.features());
        features.remove(LockFeature.RUNS);
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Set<LockFeature> features() {
                return features;
            }
        };
    }

    /** Checks that a replica has each grant that counts. */
    private LockBackend checked(Host host, LockBackend backend) {
        return new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return backend;
            }

            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return backend.tryAcquire(claim).doOnNext(answer -> {
                    if (answer instanceof LockAttempt.Acquired
                            && claim.key().kind() == LockKind.MUTEX
                            && servers().stream().noneMatch(it -> it.hasHeardOf(claim.id()))) {
                        host.world()
                                .defect("no replica has the grant of " + claim.id(), new IllegalStateException("WAIT"));
                    }
                });
            }
        };
    }

    private RedisLockBackend.Builder options(RedisLockBackend.Builder builder) {
        RedisLockBackend.Builder usual = builder.claimTime(plan.claimTime()).lossByPush(tracks);
        return confirms ? usual.confirmGrants(1, plan.lease().dividedBy(10)) : usual;
    }

    @Override
    public List<RedisPair> pairs() {
        return pair == null ? List.of() : List.of(pair);
    }

    @Override
    public List<SimulatedRedis> servers() {
        return pair == null ? List.of(server) : pair.servers();
    }

    @Override
    public List<String> leftovers() {
        return pair == null ? server.leftovers() : pair.named().leftovers();
    }
}
