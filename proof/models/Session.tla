------------------------------ MODULE Session ------------------------------
(* How long a client of ZooKeeper may believe in its session: the rule of SessionValidity. The leader ends a session of which it has not   *)
(* heard for a time-out. A follower is between them: it answers reads by itself, and reports its sessions only in replies to pings. Each   *)
(* direction between the two keeps its order, and may stand still. README.md says in plain words what this describes.                      *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Timeout,   \* of the session, in pings: the leader sends one at each step of time
  MaxTime,
  MaxSent,   \* requests of the client
  Mutant     \* the rule that is switched off, or "none"

VARIABLES
  now,
  toLeader, toFollower,  \* messages between the servers, in their order
  toClient,  \* when reads were sent whose answers are on their way
  heard,    \* leader: when it heard of the session last
  ended,    \* leader: whether it has ended the session
  touched,  \* follower: whether the session has sent anything since the last report
  sent,     \* client: how many requests
  log,      \* client: when each answered request was sent and answered
  told,     \* client: the sending of the newest request that the follower has reported, as the client knows
  until     \* client: it believes in the session before this time

vars == <<now, toLeader, toFollower, toClient, heard, ended, touched, sent, log, told, until>>
Rule(name) == Mutant # name
Never == -9
Max(a, b) == IF a > b THEN a ELSE b
Newest(times) == CHOOSE t \in times : \A u \in times : u <= t

Init ==
  /\ now = 0 /\ toLeader = <<>> /\ toFollower = <<>> /\ toClient = {}
  /\ heard = 0 /\ ended = FALSE /\ touched = FALSE /\ sent = 0 /\ log = {} /\ told = Never /\ until = 0

-----------------------------------------------------------------------------
\* The servers.

TimePasses ==
  /\ now < MaxTime /\ now' = now + 1
  /\ toFollower' = IF ended THEN toFollower ELSE Append(toFollower, [t |-> "ping", at |-> 0, told |-> 0])
  /\ UNCHANGED <<toLeader, toClient, heard, ended, touched, sent, log, told, until>>

FollowerIsPinged ==
  /\ toFollower # <<>> /\ Head(toFollower).t = "ping" /\ toFollower' = Tail(toFollower)
  /\ toLeader' = IF touched /\ ~ended THEN Append(toLeader, [t |-> "report", at |-> 0, told |-> 0]) ELSE toLeader
  /\ touched' = FALSE
  /\ UNCHANGED <<now, toClient, heard, ended, sent, log, told, until>>

\* A request that a follower passes on is no sign of life of the session.
LeaderReads ==
  /\ toLeader # <<>> /\ ~ended /\ toLeader' = Tail(toLeader)
  /\ IF Head(toLeader).t = "report" THEN heard' = now /\ UNCHANGED toFollower
     ELSE toFollower' = Append(toFollower, Head(toLeader)) /\ UNCHANGED heard
  /\ UNCHANGED <<now, toClient, ended, touched, sent, log, told, until>>

LeaderEnds == /\ ~ended /\ now >= heard + Timeout /\ ended' = TRUE /\ toLeader' = <<>>
              /\ UNCHANGED <<now, toFollower, toClient, heard, touched, sent, log, told, until>>

-----------------------------------------------------------------------------
\* The client. A "read" is answered by the follower; a "sync" by the leader; a "transaction" by the leader, with a majority.

Sends(kind) ==
  /\ ~ended /\ sent < MaxSent /\ sent' = sent + 1 /\ touched' = TRUE
  /\ IF kind = "read" THEN now \notin toClient /\ toClient' = toClient \cup {now} /\ UNCHANGED toLeader
     ELSE toLeader' = Append(toLeader, [t |-> kind, at |-> now, told |-> told]) /\ UNCHANGED toClient
  /\ UNCHANGED <<now, toFollower, heard, ended, log, told, until>>

\* A ping of the leader lies between the answer to a request and the sending of the next one to the leader. It comes before the answer of
\* the leader, so the follower has reported the first request by then. A transaction that is sent after that answer is behind the report.
Known(at) ==
  LET before == {b \in log : b.answered < at \/ (~Rule("a ping lies between") /\ b.answered <= at)} IN
  IF before = {} THEN told
  ELSE Max(told, Newest({IF Rule("a request counts from its sending") THEN b.sent ELSE b.answered : b \in before}))

\* An answer that proves no more than another one is not kept.
Logged(at) == IF \E b \in log : b.sent >= at THEN log ELSE {b \in log : b.answered < now} \cup {[sent |-> at, answered |-> now]}

HearsOfRead(at) ==
  /\ toClient' = toClient \ {at} /\ log' = Logged(at)
  /\ told' = IF Rule("only the leader's answer counts") THEN told ELSE Known(at)
  /\ UNCHANGED <<now, toLeader, toFollower, heard, ended, touched, sent, until>>

HearsOfLeader ==
  LET a == Head(toFollower)
      proved == IF ~Rule("a transaction is no sign of life") THEN a.at
                ELSE IF Rule("the transaction is sent after the answer") THEN a.told ELSE Known(a.at)
  IN
  /\ toFollower # <<>> /\ a.t # "ping" /\ toFollower' = Tail(toFollower)
  /\ log' = Logged(a.at) /\ told' = Known(a.at)
  /\ until' = IF a.t = "transaction" THEN Max(until, proved + Timeout) ELSE until
  /\ UNCHANGED <<now, toLeader, toClient, heard, ended, touched, sent>>

Next ==
  \/ TimePasses \/ FollowerIsPinged \/ LeaderReads \/ LeaderEnds \/ HearsOfLeader
  \/ \E at \in toClient : HearsOfRead(at)
  \/ \E kind \in {"read", "sync", "transaction"} : Sends(kind)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The promises.

NoBeliefAfterTheEnd == ended => now >= until
=============================================================================
