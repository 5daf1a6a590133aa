package io.holdfast.proof.hostile;

import io.holdfast.proof.hostile.Clients.Standstill;
import io.holdfast.testkit.history.History;
import io.holdfast.testkit.history.HistoryEvent;
import io.holdfast.testkit.history.HistoryRecorder;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Starts servers and clients, injects the faults of the plan, repairs them, and collects the histories. */
final class Campaign {

    private static final String COORDINATOR = "coordinator";

    /**
     * The settings of a campaign.
     *
     * @param terms the back end, and how the clients use it
     * @param size which faults, and for how long
     * @param seed the seed of the plan and of the choices of the clients
     * @param crew the clients
     * @param folder the folder for histories and servers' data; the campaign creates it
     */
    record Order(Terms terms, Size size, long seed, Crew crew, Path folder) {

        Target target() {
            return terms.target();
        }
    }

    private final Order order;
    private final HistoryRecorder recorder = HistoryRecorder.inMemory(COORDINATOR);
    private final PrintStream console;

    /**
     * Makes a campaign, but does not start it.
     *
     * @param console receives a line for each fault
     */
    Campaign(Order order, PrintStream console) {
        this.order = order;
        this.console = console;
    }

    Outcome run() throws InterruptedException {
        LocalServers.choose();
        try {
            Path unused = Files.createDirectories(order.folder());
        } catch (IOException e) {
            throw new UncheckedIOException("no folder " + order.folder(), e);
        }
        try (Stalls stalls = new Stalls();
                Deployment deployment =
                        Deployment.start(order.terms(), order.crew().places(), order.folder());
                RegisterPlace registers = RegisterPlace.of(deployment);
                Clients clients = new Clients(new Clients.Setup(
                        order.folder(), order.seed(), order.crew(), registers.uri(), deployment::addressOf))) {
            clients.start();
            long fromNanos = System.nanoTime();
            FaultLog log = new FaultLog(order.folder().resolve("faults.txt"), console);
            deployment.leftOut().forEach(what -> log.says("Left out: " + what));
            List<String> troubles = hurt(clients, deployment, log);
            Duration hostile = Duration.ofNanos(System.nanoTime() - fromNanos);
            recorder.faultsEnded(System.nanoTime());
            log.says("No more faults: the clients end, and the campaign checks what the back end still keeps.");
            List<String> complaints = clients.end();
            afterwards(deployment).ifPresent(troubles::add);
            log.close();
            return outcome(
                    log.injected(),
                    troubles,
                    standstills(clients, stalls),
                    clients.journals(),
                    deployment,
                    complaints,
                    registers.uri(),
                    hostile,
                    fromNanos);
        }
    }

    /** Returns the faults that could not be injected or repaired as planned. */
    private List<String> hurt(Clients clients, Deployment deployment, FaultLog log) throws InterruptedException {
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
                threads.add(new FaultThread(planOf(field, kinds), order.size(), faults, log));
            }
        }
        threads.forEach(Thread::start);
        List<String> troubles = new ArrayList<>();
        try {
            for (FaultThread thread : threads) {
                thread.await().ifPresent(troubles::add);
            }
            return troubles;
        } finally {
            threads.forEach(Thread::interrupt);
        }
    }

    /** Checks what is left. Returns why it could not: the histories are judged all the same. */
    private Optional<String> afterwards(Deployment deployment) throws InterruptedException {
        try {
            new Afterwards(deployment, recorder).check();
            return Optional.empty();
        } catch (IllegalStateException | UncheckedIOException e) {
            return Optional.of("what the back end still keeps could not be checked: " + e);
        }
    }

    private Plan planOf(FaultKind.Field field, List<FaultKind> kinds) {
        long seed = order.seed() * 31 + field.name().hashCode();
        double pace = order.size().pace()
                * (field == FaultKind.Field.SERVERS ? order.target().calm() : 1);
        Duration longestGap = Duration.ofMillis((long) (field.longestGap().toMillis() * pace));
        return new Plan(seed, kinds, order.terms().lease(), longestGap);
    }

    private static List<Standstill> standstills(Clients clients, Stalls stalls) {
        List<Standstill> all = new ArrayList<>(clients.standstills());
        all.addAll(stalls.seen());
        return all;
    }

    private Outcome outcome(
            List<Injected> injected,
            List<String> troubles,
            List<Standstill> standstills,
            List<Path> journals,
            Deployment deployment,
            List<String> complaints,
            String registerUri,
            Duration hostile,
            long fromNanos) {
        List<HistoryEvent> events = new ArrayList<>(read(journals));
        events.addAll(written("history-" + COORDINATOR, recorder.events()));
        List<String> found = new ArrayList<>(complaints);
        found.addAll(deployment.complaints());
        List<Gap> gaps = deployment.gaps();
        try (Register register = Register.open(registerUri, order.terms())) {
            RegisterLog log = RegisterLog.of(register, order.target());
            events.addAll(written("history-register", log.events()));
            found.addAll(log.lostUpdates());
            found.addAll(log.late());
            Verdict verdict = new Verdict(new Evidence(events, standstills), gaps, order.terms());
            return new Outcome(
                    order,
                    hostile,
                    fromNanos,
                    injected,
                    troubles,
                    gaps,
                    standstills,
                    verdict.history(),
                    History.of(written("promised", verdict.promised().events())),
                    verdict.unpromised(),
                    log.taken(),
                    log.refused(),
                    deployment.counts(),
                    deployment.leftOut(),
                    verdict.violations(found));
        }
    }

    /** Writes events beside the histories of the clients, so that you can check all of them again. */
    private List<HistoryEvent> written(String name, List<HistoryEvent> events) {
        try {
            Path unused = Files.write(
                    order.folder().resolve(name + ".txt"),
                    events.stream().map(HistoryEvent::line).toList());
            return events;
        } catch (IOException e) {
            throw new UncheckedIOException("a history cannot be written", e);
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
