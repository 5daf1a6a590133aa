package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import io.holdfast.testkit.server.RedisServer;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Starts a world, breaks it by the plan, heals it, and collects what was seen. */
final class Campaign {

    private static final String COORDINATOR = "coordinator";

    /**
     * What is to be done.
     *
     * @param target which back end
     * @param size how much
     * @param seed what the plan and the choices of the clients come from
     * @param places how many client processes there are at a time
     * @param lanes how many things each of them does at a time
     * @param folder where histories and servers' data go; is created
     */
    record Order(Target target, Size size, long seed, int places, int lanes, Path folder) {}

    private final Order order;
    private final HistoryRecorder recorder = HistoryRecorder.inMemory(COORDINATOR);
    private final Queue<Injected> injected = new ConcurrentLinkedQueue<>();

    Campaign(Order order) {
        this.order = order;
    }

    Outcome run() throws InterruptedException {
        LocalServers.choose();
        try {
            Path unused = Files.createDirectories(order.folder());
        } catch (IOException e) {
            throw new UncheckedIOException("no folder " + order.folder(), e);
        }
        try (var registerServer = RedisServer.start();
                Stalls stalls = new Stalls();
                Deployment deployment = Deployment.start(order.target(), order.places(), order.folder());
                Clients clients = new Clients(new Clients.Setup(
                        order.folder(),
                        order.seed(),
                        order.places(),
                        order.lanes(),
                        registerServer.uri(),
                        deployment::addressOf))) {
            clients.start();
            long fromNanos = System.nanoTime();
            hurt(clients, deployment);
            Duration hostile = Duration.ofNanos(System.nanoTime() - fromNanos);
            recorder.faultsEnded(System.nanoTime());
            List<String> complaints = clients.end();
            new Afterwards(deployment, recorder).look();
            return outcome(
                    standstills(clients, stalls),
                    clients.journals(),
                    deployment.gaps(),
                    complaints,
                    registerServer.uri(),
                    hostile,
                    fromNanos);
        }
    }

    private void hurt(Clients clients, Deployment deployment) throws InterruptedException {
        Map<FaultKind, Strike.Fault> faults = new LinkedHashMap<>(clients.faults());
        faults.putAll(deployment.faults());
        faults.put(FaultKind.PROCESSORS_BUSY, new BusyProcessors(order.folder())::starve);
        List<FaultThread> threads = new ArrayList<>();
        for (FaultKind.Field field : FaultKind.Field.values()) {
            List<FaultKind> kinds = order.size()
                    .of(faults.keySet().stream()
                            .filter(kind -> kind.field() == field)
                            .sorted()
                            .toList());
            if (!kinds.isEmpty()) {
                threads.add(new FaultThread(planOf(field, kinds), order.size(), faults, injected));
            }
        }
        threads.forEach(Thread::start);
        try {
            for (FaultThread thread : threads) {
                thread.await();
            }
        } finally {
            threads.forEach(Thread::interrupt);
        }
    }

    private Plan planOf(FaultKind.Field field, List<FaultKind> kinds) {
        long seed = order.seed() * 31 + field.name().hashCode();
        double pace = order.size().pace()
                * (field == FaultKind.Field.SERVERS ? order.target().calm() : 1);
        Duration longestGap = Duration.ofMillis((long) (field.longestGap().toMillis() * pace));
        return new Plan(seed, kinds, order.target().lease(), longestGap);
    }

    private static List<Standstill> standstills(Clients clients, Stalls stalls) {
        List<Standstill> all = new ArrayList<>(clients.standstills());
        all.addAll(stalls.seen());
        return all;
    }

    private Outcome outcome(
            List<Standstill> standstills,
            List<Path> journals,
            List<Gap> gaps,
            List<String> complaints,
            String registerUri,
            Duration hostile,
            long fromNanos) {
        List<HistoryEvent> events = new ArrayList<>(read(journals));
        events.addAll(recorder.events());
        List<String> found = new ArrayList<>(complaints);
        try (Register register = new Register(registerUri)) {
            RegisterLog log = RegisterLog.of(register, order.target());
            events.addAll(log.events());
            found.addAll(log.lostUpdates());
            Verdict verdict = new Verdict(
                    new Evidence(events, standstills),
                    gaps,
                    order.target(),
                    order.target().lease());
            return new Outcome(
                    order,
                    hostile,
                    fromNanos,
                    List.copyOf(injected),
                    gaps,
                    standstills,
                    verdict.history(),
                    verdict.successions(),
                    verdict.unpromised(),
                    log.taken(),
                    log.refused(),
                    verdict.violations(found));
        }
    }

    private static List<HistoryEvent> read(List<Path> journals) {
        List<Reader> readers = new ArrayList<>();
        try {
            for (Path journal : journals) {
                readers.add(Files.newBufferedReader(journal));
            }
            try {
                return History.read(readers).events();
            } finally {
                for (Reader reader : readers) {
                    reader.close();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("a history cannot be read", e);
        }
    }
}
