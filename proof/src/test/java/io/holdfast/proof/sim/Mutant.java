package io.holdfast.proof.sim;

import io.holdfast.LeaderElection;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.internal.tenure.WrongTenures;
import io.holdfast.internal.tenure.WrongTenures.Decisions;
import io.holdfast.redis.WrongDriver;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.spi.LockBackend;
import io.holdfast.zookeeper.WrongPart;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A variant of the product with one wrong part. Immutable. */
final class Mutant {

    private static final List<String> SCRIPTS = Stream.of("lock", "renew", "still_held", "inspect")
            .map(name -> LuaScript.load(name).body())
            .toList();

    static final Mutant NONE = new Mutant("none");

    /** Replaces an election with this lock in this process. */
    @FunctionalInterface
    interface Election {
        LeaderElection of(LeaderElection real, ReactiveLock lock, Host host);
    }

    private final String name;
    private UnaryOperator<String> script = it -> it;
    private UnaryOperator<String> refusal = it -> it;
    private BiFunction<Host, LockBackend, LockBackend> member = (host, it) -> it;
    private BiFunction<Host, LockBackend, LockBackend> backend = (host, it) -> it;
    private BiFunction<Duration, LockBackend, LockBackend> session = (timeout, it) -> it;
    private boolean hasQuarantine = true;
    private boolean areClocksTogether = true;
    private boolean movesAreLeftAlone = true;
    private boolean clonesMakeOtherIds = true;
    private BiFunction<Host, ReactiveLock, ReactiveLock> lock = (host, it) -> it;
    private WrongPart part = WrongPart.NONE;
    private WrongEtcd etcd = WrongEtcd.NONE;
    private boolean isEtcdOld;
    private Decisions handOver = WrongTenures.none();
    private WrongSql sql = WrongSql.NONE;
    private Supplier<WrongDriver> driver = () -> WrongDriver.NONE;
    private Election election = (it, lock, host) -> it;
    private BiFunction<ReactiveMultiLock, List<ReactiveLock>, ReactiveMultiLock> many = (it, given) -> it;

    private Mutant(String name) {
        this.name = name;
    }

    private static Mutant of(String name, Consumer<Mutant> wrong) {
        Mutant mutant = new Mutant(name);
        wrong.accept(mutant);
        return mutant;
    }

    /** Replaces a text in the scripts; scripts without the text do not change. */
    static Mutant script(String name, String text, String wrong) {
        return scripts(name, body -> body.replace(text, wrong));
    }

    static Mutant scripts(String name, UnaryOperator<String> wrong) {
        if (SCRIPTS.stream().allMatch(body -> wrong.apply(body).equals(body))) {
            throw new IllegalArgumentException("mutant '%s' changes no script: correct its text".formatted(name));
        }
        return of(name, it -> it.script = wrong);
    }

    static Mutant refusal(String name, UnaryOperator<String> wrong) {
        return of(name, it -> it.refusal = wrong);
    }

    static Mutant member(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return of(name, it -> it.member = wrong);
    }

    static Mutant backend(String name, BiFunction<Host, LockBackend, LockBackend> wrong) {
        return of(name, it -> it.backend = wrong);
    }

    static Mutant session(String name, BiFunction<Duration, LockBackend, LockBackend> wrong) {
        return of(name, it -> it.session = wrong);
    }

    static Mutant part(String name, WrongPart wrong) {
        return of(name, it -> it.part = wrong);
    }

    static Mutant sql(String name, WrongSql wrong) {
        return of(name, it -> it.sql = wrong);
    }

    static Mutant etcd(String name, WrongEtcd wrong) {
        return of(name, it -> it.etcd = wrong);
    }

    /** As {@link #withClocksApart}, about etcd. */
    static Mutant withAnOldEtcd() {
        return of("etcd whose former leader revokes leases", it -> it.isEtcdOld = true);
    }

    /** Wraps the connection between a Redis and the back end; one for each client. */
    static Mutant driver(String name, Supplier<WrongDriver> wrong) {
        return of(name, it -> it.driver = wrong);
    }

    static Mutant withoutQuarantine() {
        return of("no quarantine", it -> it.hasQuarantine = false);
    }

    /** Breaks an assumption about the servers of a cluster, not the product. */
    static Mutant withClocksApart() {
        return of("masters whose clocks differ", it -> it.areClocksTogether = false);
    }

    /** As {@link #withClocksApart}. */
    static Mutant withFailoversDuringMoves() {
        return of("failover in the middle of a move", it -> it.movesAreLeftAlone = false);
    }

    static Mutant withClonesOfOneSeed() {
        return of("clones that make the same claim ids", it -> it.clonesMakeOtherIds = false);
    }

    static Mutant lock(String name, BiFunction<Host, ReactiveLock, ReactiveLock> wrong) {
        return of(name, it -> it.lock = wrong);
    }

    static Mutant handOver(String name, Decisions wrong) {
        return of(name, it -> it.handOver = wrong);
    }

    static Mutant many(String name, BiFunction<ReactiveMultiLock, List<ReactiveLock>, ReactiveMultiLock> wrong) {
        return of(name, it -> it.many = wrong);
    }

    static Mutant election(String name, Election wrong) {
        return of(name, it -> it.election = wrong);
    }

    /** Returns the name of the mutant, which says what is wrong. */
    String name() {
        return name;
    }

    /** Returns the change of each script. */
    UnaryOperator<String> script() {
        return script;
    }

    /** Returns how the client reads the answer of a server that refuses a call. */
    UnaryOperator<String> refusal() {
        return refusal;
    }

    /** Wraps the back end of one server. */
    BiFunction<Host, LockBackend, LockBackend> member() {
        return member;
    }

    /** Wraps the back end that the engine uses. */
    BiFunction<Host, LockBackend, LockBackend> backend() {
        return backend;
    }

    /** Wraps a back end whose leases are as long as a session's time-out allows. */
    BiFunction<Duration, LockBackend, LockBackend> session() {
        return session;
    }

    /** Returns whether servers that come back without their data do not vote for a while. */
    boolean hasQuarantine() {
        return hasQuarantine;
    }

    /** Returns whether all servers of a cluster have the same time. */
    boolean areClocksTogether() {
        return areClocksTogether;
    }

    /** Returns whether no master is replaced while one of its slots is moved. */
    boolean movesAreLeftAlone() {
        return movesAreLeftAlone;
    }

    /** Returns whether the clients of clones make different claim ids. */
    boolean clonesMakeOtherIds() {
        return clonesMakeOtherIds;
    }

    /** Wraps the locks of users. */
    BiFunction<Host, ReactiveLock, ReactiveLock> lock() {
        return lock;
    }

    /** Returns the wrong part of the ZooKeeper back end. */
    WrongPart part() {
        return part;
    }

    /** Returns the wrong part of the SQL back end, or of its functions. */
    WrongSql sql() {
        return sql;
    }

    /** Returns the mistake of the back end for etcd. */
    WrongEtcd etcd() {
        return etcd;
    }

    /** Returns whether etcd is older than 3.4.31. */
    boolean isEtcdOld() {
        return isEtcdOld;
    }

    /** Wraps the connection between a Redis and the back end of a client. */
    Supplier<WrongDriver> driver() {
        return driver;
    }

    /** Returns the decisions about a hand-over inside a process. */
    Decisions handOver() {
        return handOver;
    }

    /** Replaces elections. */
    Election election() {
        return election;
    }

    /** Replaces an acquisition of several locks, in the given order. */
    BiFunction<ReactiveMultiLock, List<ReactiveLock>, ReactiveMultiLock> many() {
        return many;
    }

    @Override
    public String toString() {
        return name;
    }
}
