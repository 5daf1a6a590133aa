------------------------------- MODULE Lease -------------------------------
(* One claim after the other takes a lock at a store, renews its lease, gives it back, or hands it on to another process. *)
(* Requests may be late or lost, and overtake each other; answers may be late, lost or repeated. A client may pause       *)
(* before each of its steps. README.md says in plain words what this describes.                                           *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Claims,
  Lease,        \* so long the store keeps the lock without a renewal
  Margin,       \* so much sooner a lease may end by the client's clock: clocks run at different rates
  MaxTime, MaxAttempts, MaxBreaks,
  MayRenew, MayCancel, MayExport,  \* what a schedule may do besides
  Mutant        \* the rule that is switched off, or "none"

VARIABLES
  now,
  store,        \* holder, the end of its lease, the last token, and the number of the holder's last attempt
  traces,       \* claims with a tombstone: the store refuses their attempts
  ended,        \* history: claims whose release the store has processed
  broken,       \* history: claims whose hold an operator has ended
  requests,     \* each is processed once, late or never
  answers,      \* each may be read late, again or never
  cl,           \* the claims at their clients
  top, fell     \* history: the highest token of a claim that began, and whether one began with a lower token

vars == <<now, store, traces, ended, broken, requests, answers, cl, top, fell>>
Symmetry == Permutations(Claims)

Rule(name) == Mutant # name
Nobody == "nobody"
Adopted == MaxAttempts + 2

Init ==
  /\ now = 0 /\ store = [holder |-> Nobody, ends |-> 0, token |-> 0, seen |-> 0]
  /\ traces = {} /\ ended = {} /\ broken = {} /\ requests = {} /\ answers = {} /\ top = 0 /\ fell = FALSE
  \* phase; attempts sent; the end of the lease; its token; whether an attempt was never answered; until when an exporter believes
  /\ cl = [c \in Claims |-> [ph |-> "new", n |-> 0, until |-> 0, token |-> 0, open |-> FALSE, old |-> 0]]

Attempt(c, n)  == [t |-> "attempt", c |-> c, n |-> n, at |-> now]
Renew(c)       == [t |-> "renew", c |-> c, n |-> 0, at |-> now]
Adopt(c, k)    == [t |-> "adopt", c |-> c, n |-> k, at |-> now]
Release(c)     == [t |-> "release", c |-> c, n |-> cl[c].n, at |-> IF cl[c].open THEN 1 ELSE 0]
Answer(r, say) == [t |-> r.t, c |-> r.c, n |-> r.n, at |-> r.at, says |-> say]

-----------------------------------------------------------------------------
\* The store. Each request is one step.

\* An answer that its client would ignore is dropped, and so is a request that has no effect any more: that is fewer states.
IsAwaited(m, k) == \/ m.t = "attempt" /\ m.n = k.n /\ k.ph \in {"attempting", "leaving"}
                   \/ m.t = "renew" /\ k.ph = "held"
                   \/ m.t = "adopt" /\ k.ph = "adopting"
                   \/ m.t = "release" /\ k.ph = "releasing"
HasEffect(r, k, gone) == IsAwaited(r, k) \/ r.c \notin gone

StoreSame == UNCHANGED <<now, broken, cl, top, fell>>
Says(r, say) == /\ requests' = {q \in requests \ {r} : HasEffect(q, cl[q.c], traces')}
                /\ answers' = answers \cup {a \in {Answer(r, say)} : IsAwaited(a, cl[a.c])}

StoreTries(r) ==
  LET mine == store.holder = r.c
      may == store.holder = Nobody /\ r.c \notin traces
  IN
  /\ r.t = "attempt"
  \* An attempt that a later one has overtaken changes nothing for a holder.
  /\ store' = IF may THEN [holder |-> r.c, ends |-> now + Lease, token |-> store.token + 1, seen |-> r.n]
              ELSE IF mine /\ r.n >= store.seen THEN [store EXCEPT !.ends = now + Lease, !.seen = r.n]
              ELSE store
  /\ UNCHANGED <<traces, ended>> /\ StoreSame
  /\ Says(r, IF mine THEN store.token ELSE IF may THEN store.token + 1 ELSE 0)

StoreRenews(r) ==
  LET holds == store.holder = r.c
      takes == ~Rule("a renewal takes no free lock") /\ store.holder = Nobody
  IN
  /\ r.t = "renew"
  /\ store' = IF holds \/ takes THEN [store EXCEPT !.holder = r.c, !.ends = now + Lease] ELSE store
  /\ UNCHANGED <<traces, ended>> /\ StoreSame
  /\ Says(r, IF holds \/ takes THEN 1 ELSE 0)

StoreHandsOn(r) ==
  LET holds == store.holder = r.c /\ (store.token = r.n \/ ~Rule("an adoption compares the token")) IN
  /\ r.t = "adopt"
  /\ store' = IF holds THEN [store EXCEPT !.ends = now + Lease, !.seen = Adopted] ELSE store
  /\ UNCHANGED <<traces, ended>> /\ StoreSame
  /\ Says(r, IF holds THEN 1 ELSE 0)

\* A tombstone is needed if an attempt may still be under way: one was not answered, or the store has not seen the last one.
StoreReleases(r) ==
  LET late == \/ r.at = 1 \/ store.holder # r.c \/ store.seen < r.n
              \/ store.seen = Adopted /\ Rule("the release of an adopter leaves a tombstone")
  IN
  /\ r.t = "release"
  /\ store' = IF store.holder = r.c THEN [store EXCEPT !.holder = Nobody] ELSE store
  /\ traces' = IF late /\ Rule("a release leaves a tombstone") THEN traces \cup {r.c} ELSE traces
  /\ ended' = ended \cup {r.c}
  /\ StoreSame
  /\ Says(r, IF store.holder = r.c THEN 1 ELSE 0)

\* The store's clock may be faster than the client's.
StoreExpires ==
  /\ store.holder # Nobody /\ now >= store.ends - Margin
  /\ store' = [store EXCEPT !.holder = Nobody]
  /\ UNCHANGED <<traces, ended, requests, answers>> /\ StoreSame

OperatorBreaks ==
  /\ store.holder # Nobody /\ Cardinality(broken) < MaxBreaks
  /\ store' = [store EXCEPT !.holder = Nobody]
  /\ traces' = traces \cup {store.holder} /\ broken' = broken \cup {store.holder}
  /\ UNCHANGED <<now, ended, requests, answers, cl, top, fell>>

TimePasses == now < MaxTime /\ now' = now + 1 /\ UNCHANGED <<store, traces, ended, broken, requests, answers, cl, top, fell>>

-----------------------------------------------------------------------------
\* The clients.

Sends(c, new, more) == /\ cl' = [cl EXCEPT ![c] = new]
                       /\ requests' = {r \in requests \cup more : HasEffect(r, cl'[r.c], traces)}
                       /\ answers' = {a \in answers : IsAwaited(a, cl'[a.c])}
                       /\ UNCHANGED <<now, store, traces, ended, broken>>
NoBegin == UNCHANGED <<top, fell>>
Begins(c, token) == /\ top' = IF token > top /\ c \notin broken THEN token ELSE top
                    /\ fell' = (fell \/ (token < top /\ c \notin broken))

\* The lease counts from the moment before its request was sent.
Until(at) == (IF Rule("a lease counts from its request") THEN at ELSE now) + Lease
             - (IF Rule("a lease is shorter by what clocks differ") THEN Margin ELSE 0)
IsValid(c) == cl[c].ph = "held" /\ now < cl[c].until
\* It ends, and is released: the release is repeated until it is answered.
Leaving(c) == [cl[c] EXCEPT !.ph = "releasing"]
Over(c) == [cl[c] EXCEPT !.ph = "over"]
\* The store says that the claim has nothing. An attempt that was never answered may still arrive; an adopter does not know of those of the
\* exporter.
MayArrive(c) == cl[c].open \/ cl[c].n > MaxAttempts
Denied(c) == IF MayArrive(c) /\ Rule("a denied claim is released if an attempt may arrive") THEN Leaving(c) ELSE Over(c)

Attempts(c) ==
  /\ cl[c].ph \in {"new", "pausing"} /\ cl[c].n < MaxAttempts
  /\ LET n == cl[c].n + 1 IN Sends(c, [cl[c] EXCEPT !.ph = "attempting", !.n = n], {Attempt(c, n)})
  /\ NoBegin

\* No answer in time: the outcome is unknown.
TimesOut(c) ==
  /\ cl[c].ph \in {"attempting", "leaving"}
  /\ LET open == [cl[c] EXCEPT !.open = TRUE] IN
     Sends(c, IF cl[c].ph = "attempting" THEN [open EXCEPT !.ph = "pausing"]
              ELSE IF Rule("a cancelled attempt is withdrawn") THEN [open EXCEPT !.ph = "releasing"]
              ELSE [open EXCEPT !.ph = "over"], {})
  /\ NoBegin

\* Only the answer to the attempt in flight counts.
HearsOfAttempt(c, a) ==
  /\ a.t = "attempt" /\ a.c = c /\ a.n = cl[c].n /\ cl[c].ph \in {"attempting", "leaving"}
  /\ IF cl[c].ph = "attempting" /\ a.says > 0 /\ now < Until(a.at)
     THEN Sends(c, [cl[c] EXCEPT !.ph = "held", !.until = Until(a.at), !.token = a.says], {}) /\ Begins(c, a.says)
     ELSE /\ NoBegin
          /\ \/ cl[c].ph = "attempting" /\ Sends(c, [cl[c] EXCEPT !.ph = "pausing"], {})
             \* The store has nothing of it.
             \/ a.says = 0 /\ ~cl[c].open /\ Sends(c, Over(c), {})
             \/ cl[c].ph = "leaving" /\ Sends(c, IF Rule("a grant that comes after the cancellation is given back") THEN Leaving(c)
                                                 ELSE Over(c), {})

\* The subscriber cancels, or its time is over.
IsCancelled(c) ==
  /\ MayCancel /\ NoBegin
  /\ \/ cl[c].ph = "attempting" /\ Sends(c, [cl[c] EXCEPT !.ph = "leaving"], {})
     \/ cl[c].ph = "pausing" /\ Sends(c, Leaving(c), {})

RenewsIt(c) == MayRenew /\ IsValid(c) /\ Sends(c, cl[c], {Renew(c)}) /\ NoBegin

\* After its end, no answer brings a lease back.
HearsOfRenewal(c, a) ==
  /\ a.t = "renew" /\ a.c = c /\ cl[c].ph = "held" /\ NoBegin
  /\ IF a.says = 0 THEN Sends(c, Denied(c), {})
     ELSE now < cl[c].until /\ Until(a.at) > cl[c].until /\ Sends(c, [cl[c] EXCEPT !.until = Until(a.at)], {})

\* It is released, or the client finds that the lease is over, perhaps long after.
GivesBack(c) == /\ cl[c].ph = "held" /\ Sends(c, Leaving(c), {}) /\ NoBegin
SendsRelease(c) == /\ cl[c].ph = "releasing" /\ Release(c) \notin requests /\ Sends(c, cl[c], {Release(c)}) /\ NoBegin
HearsOfRelease(c, a) == /\ a.t = "release" /\ a.c = c /\ cl[c].ph = "releasing" /\ Sends(c, Over(c), {}) /\ NoBegin

\* The text has a later number than each attempt of the exporter, and the token. From then on the exporter does not believe.
Exports(c) ==
  /\ MayExport /\ IsValid(c) /\ cl[c].n <= MaxAttempts /\ NoBegin
  /\ Sends(c, [cl[c] EXCEPT !.ph = "exported", !.n = MaxAttempts + 1, !.open = FALSE, !.until = 0,
                            !.old = IF Rule("an exporter does not believe any more") THEN 0 ELSE cl[c].until], {})
\* Another process. Without it, the lease ends.
Adopts(c) == cl[c].ph = "exported" /\ Sends(c, [cl[c] EXCEPT !.ph = "adopting"], {Adopt(c, cl[c].token)}) /\ NoBegin
HearsOfAdoption(c, a) ==
  /\ a.t = "adopt" /\ a.c = c /\ cl[c].ph = "adopting"
  /\ IF a.says = 0 THEN Sends(c, Denied(c), {}) /\ NoBegin
     ELSE IF now < Until(a.at) THEN Sends(c, [cl[c] EXCEPT !.ph = "held", !.until = Until(a.at)], {}) /\ Begins(c, cl[c].token)
     ELSE Sends(c, Leaving(c), {}) /\ NoBegin
GivesUpAdoption(c) == cl[c].ph = "adopting" /\ Sends(c, Leaving(c), {}) /\ NoBegin

Next ==
  \/ \E r \in requests : StoreTries(r) \/ StoreRenews(r) \/ StoreHandsOn(r) \/ StoreReleases(r)
  \/ StoreExpires \/ OperatorBreaks \/ TimePasses
  \/ \E c \in Claims :
       \/ Attempts(c) \/ TimesOut(c) \/ IsCancelled(c) \/ RenewsIt(c) \/ GivesBack(c) \/ SendsRelease(c)
       \/ Exports(c) \/ Adopts(c) \/ GivesUpAdoption(c)
       \/ \E a \in answers : HearsOfAttempt(c, a) \/ HearsOfRenewal(c, a) \/ HearsOfRelease(c, a) \/ HearsOfAdoption(c, a)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The promises.

Believers == {c \in Claims \ broken : IsValid(c)}
OneBeliever == Cardinality(Believers) + Cardinality({c \in Claims \ broken : now < cl[c].old}) <= 1
TokensRise == ~fell
\* No attempt takes the lock for a claim whose release was processed.
NoGhost == store.holder \notin ended
\* A claim that ended without a release has nothing at the store, nor on its way there.
GivenBack == \A c \in Claims : cl[c].ph = "over" /\ c \notin ended =>
                               store.holder # c /\ \A r \in requests : r.t = "attempt" => r.c # c
=============================================================================
