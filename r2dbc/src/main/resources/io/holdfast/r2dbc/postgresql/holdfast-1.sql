-- Holdfast's locks in PostgreSQL 13 or newer: version 1 of the schema.
-- Run it once, as the role that will own the tables, in the schema that will contain them: by hand with psql, or with Flyway or Liquibase.
-- A later version adds functions with another number in their names, so that old and new clients work side by side.
--
-- Rules for every function in this file:
-- * It locks the row of the lock first, and reads the queue afterwards, in separate statements. In READ COMMITTED each statement of a
--   VOLATILE function sees what was committed before it began. So a release sees a waiter that queued while the release waited for the row.
-- * It reads the clock after it has locked the row. Only the server's clock decides.
-- * A grant needs the row FOR UPDATE. A fenced transaction has locked it FOR KEY SHARE, so the next grant must wait until it ends.
--   All other functions use FOR NO KEY UPDATE, which does not conflict with the fence. No function ever waits for a fence.
-- * Several rows are locked in the order of their keys, so that no two calls wait for each other.
-- * A waiter is found by its id. Its name and kind are compared with IS NOT DISTINCT FROM, which uses no index. With a plain comparison, a
--   planner without statistics also uses the index of the queue, and reads the whole queue.
-- * The queue is read from the last served claim on: until the next vacuum, its index has an entry for each earlier claim.

-- One row per lock, with slot 0: its last token, and its exclusive holder. Each reader, and each permit of a semaphore, has a row of its own,
-- whose slot is its token. Half of each page stays empty, so that an update needs no new entry in the index.
create table holdfast_lock (
  name       text collate "C" not null,
  kind       text collate "C" not null, -- mutex, rw or semaphore; it has no check constraint, which the server would read and plan for each statement that writes
  slot       bigint           not null,
  token      bigint           not null, -- in slot 0 the last token; tokens of the three kinds differ in the remainder by 4
  holder     text collate "C",          -- id of the claim that holds the lock; null for none
  attempt    integer          not null, -- the last attempt of the holder that was answered
  expires_at timestamptz      not null, -- end of the lease; without a holder: end of the last lease
  taken      integer          not null default 1, -- how many permits the holder of a semaphore has taken
  last_ticket bigint          not null default 0, -- in slot 0: of the last claim that was served; each claim in the queue has a higher one
  wrote      boolean          not null default false, -- whether this reader was the writer before; the token has not changed since
  unconfirmed text collate "C",         -- channel of a waiter that got this hold by a message; null once its claim has sent a call
  claim      text collate "C",          -- id of the reader, or of the claim that has the permit; null in slot 0
  oldest     bigint           not null default 1, -- in slot 0: each reader and each permit has this slot or a higher one
  primary key (name, kind, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Finds readers and permits. An update changes none of its columns, so it needs no new entry here either.
create index holdfast_lock_claim on holdfast_lock (claim) where claim is not null;

-- Claims that wait. UNLOGGED: a crash of the server empties it, and the waiters enter again.
create unlogged table holdfast_waiter (
  name      text collate "C" not null,
  kind      text collate "C" not null,
  id        text collate "C" not null,
  place     "char"           not null, -- q: in the queue; s: set aside, since its client is gone or silent, and it keeps its ticket;
                                       -- w: it wants a hint, and has no place in the queue
  ticket    bigint           not null generated always as identity,
  mode      text             not null, -- mutex, read, write or semaphore
  permits   integer          not null, -- of the semaphore, by the options of the claim
  taken     integer          not null default 1, -- how many of them the claim wants
  attempt   integer          not null,
  lease_ms  bigint           not null,
  looked_at timestamptz      not null, -- time of its last attempt
  channel   text collate "C" not null, -- of its client; empty for a claim that cannot be notified
  hash      bigint           not null  -- of its name
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

create index holdfast_waiter_claim on holdfast_waiter (id);

-- A scan compares each entry of a page with its conditions, so the entries have a fixed width: names would cost five times as much. Names with one hash are
-- told apart in the table.
create index holdfast_waiter_queue on holdfast_waiter (hash, place, ticket);

-- Finds the claims of one client that are aside. It has no entries of claims in the queue. Each attempt reads it, and a client may have thousands aside.
create index holdfast_waiter_aside on holdfast_waiter (hash, channel) where place = 's';

-- Claims that were released while an attempt of theirs may have been under way: such an attempt must not take the lock.
create unlogged table holdfast_tombstone (
  id    text collate "C" primary key,
  until timestamptz not null
);

-- How outdated rows are deleted. One row. It has a key, so that a publication for all tables does not prevent its updates.
create table holdfast_schema (
  version  integer     primary key,
  swept_at timestamptz not null,                                                   -- when traces and outdated claims were last deleted
  keep     interval    not null default '1 day' check (keep >= interval '1 minute'), -- how long a free lock keeps its row: yours to set
  swept_to text collate "C",                                                       -- the pass over the locks has come to this name; null: it is over
  batch_at timestamptz not null default '-infinity'                                -- time of the last step of that pass
);

insert into holdfast_schema (version, swept_at) values (1, '-infinity');

-- For operators: the claims that hold a lock. The id of a claim ends with the label of its client. A token is the time of its grant, unless the clock was
-- set back before.
create view holdfast_holders as
select name, kind, case when kind <> 'rw' then kind when slot = 0 then 'write' else 'read' end as mode, split_part(holder, '@', 2) as owner,
       holder as claim, token, taken as permits, timestamptz 'epoch' + token * interval '1 us' as since, expires_at,
       (extract(epoch from statement_timestamp()) * 1000000)::bigint - token as held_us,
       (extract(epoch from expires_at - statement_timestamp()) * 1000000)::bigint as left_us
  from holdfast_lock where holder is not null and expires_at > statement_timestamp();

-- For operators: the claims that wait.
--   state         queued; aside: its client is gone or silent, and the claim keeps its ticket; hint: it wants a hint, and has no place in the queue
--   permits       how many permits of a semaphore the claim wants, out of all_permits
--   is_listening  whether its client lives: its listening connection holds an advisory lock
create view holdfast_waiters as
select name, kind, mode, case place when 'q' then 'queued' when 'w' then 'hint' else 'aside' end as state, ticket,
       split_part(id, '@', 2) as owner, id as claim, taken as permits, permits as all_permits, looked_at as attempted_at, lease_ms, channel,
       channel <> '' and hashtextextended(channel, 0) in (
         select (classid::bigint << 32) | objid::bigint from pg_locks
          where locktype = 'advisory' and objsubid = 1 and mode = 'ExclusiveLock' and granted
            and database = (select oid from pg_database where datname = current_database())) as is_listening,
       (extract(epoch from statement_timestamp() - looked_at) * 1000000)::bigint as silent_us
  from holdfast_waiter;

-- An answer to an operation, or a message for a client (n = 0).
--   acquired   token, ms: the lease          queued, contended   ms: send the next attempt within
--   busy       call again, with p_patient    held, not_held      answer to a release or a renewal
--   granted    to the channel: this claim got the lock for that attempt; ms: the lease, counted from that attempt
--   head       to the channel: this claim is at the head of the queue now
--   changed    to the channel: this claim may send an attempt
create type holdfast_answer_v1 as (
  n integer, answer text, token bigint, ms bigint, attempt integer, channel text, id text
);

create function holdfast_line_v1(r holdfast_answer_v1) returns text
language sql stable as $$
  select concat_ws(' ', r.n, r.answer, coalesce(r.token, 0), coalesce(r.ms, 0), case r.n when 0 then coalesce(r.attempt, 0) end, r.channel, r.id)
$$;

-- Locks the row of a lock. Beside a transaction that stays open, the index has an entry for each page that has had the row. It is read backwards, with an
-- end, since the last entry is usually the present one.
--   standing: grantable; fenced: a fenced transaction prevents grants; busy: another call has locked it; none: no such row
create function holdfast_enter_v1(p_name text, p_kind text, p_creates boolean, p_patient boolean,
                                  out lock_row holdfast_lock, out standing text)
language plpgsql volatile as $$
begin
  loop
    if p_patient then
      perform 1 from holdfast_lock where name = p_name and kind = p_kind and slot = 0 for no key update;
    end if;
    select * into lock_row from holdfast_lock
     where name = p_name and kind = p_kind and slot < 1 order by slot desc limit 1 for update skip locked;
    if found then
      standing := 'grantable';
      return;
    end if;
    select * into lock_row from holdfast_lock
     where name = p_name and kind = p_kind and slot < 1 order by slot desc limit 1 for no key update skip locked;
    if found then
      standing := 'fenced';
      return;
    end if;
    perform 1 from holdfast_lock where name = p_name and kind = p_kind and slot = 0;
    if found then
      standing := 'busy';
      return;
    end if;
    if not p_creates then
      standing := 'none';
      return;
    end if;
    insert into holdfast_lock values (p_name, p_kind, 0, 0, null, 0, '-infinity') on conflict do nothing;
  end loop;
end $$;

-- Locks the row of a claim that is a reader or has a permit. Its renewals lock no other row.
create function holdfast_share_v1(p_name text, p_kind text, p_id text, p_patient boolean, out share holdfast_lock, out is_busy boolean)
language plpgsql volatile as $$
begin
  if p_patient then
    perform 1 from holdfast_lock
     where claim = p_id and name is not distinct from p_name and kind is not distinct from p_kind and holder = p_id for no key update;
  end if;
  select * into share from holdfast_lock
   where claim = p_id and name is not distinct from p_name and kind is not distinct from p_kind and holder = p_id for no key update skip locked;
  is_busy := not found and exists (
    select from holdfast_lock where claim = p_id and name is not distinct from p_name and kind is not distinct from p_kind and holder = p_id);
end $$;

-- Whether the client with this channel lives: its listening connection holds this advisory lock.
create function holdfast_is_alive_v1(p_channel text) returns boolean
language sql volatile as $$
  select p_channel <> '' and not pg_try_advisory_xact_lock_shared(hashtextextended(p_channel, 0))
$$;

-- A grant to a waiter of this client has ended, and its claim has sent no call: it is dead, it hangs, or it is cut off, although the server still counts
-- it as listening. All of its claims are set aside, unless one of them has sent an attempt since. Otherwise each of them would get the lock for a claim
-- time. Returns how many have left the queue.
create function holdfast_distrust_v1(lock_row holdfast_lock, p_channel text, p_granted timestamptz) returns integer
language plpgsql volatile as $$
declare
  v_left integer;
begin
  update holdfast_waiter set place = 's'
   where hash = hashtextextended(lock_row.name, 0) and name = lock_row.name and kind = lock_row.kind and place = 'q' and ticket > lock_row.last_ticket
     and channel = p_channel
     and not exists (select from holdfast_waiter s
                      where s.hash = hashtextextended(lock_row.name, 0) and s.name = lock_row.name and s.kind = lock_row.kind and s.place = 'q'
                        and s.ticket > lock_row.last_ticket and s.channel = p_channel and s.looked_at > p_granted);
  get diagnostics v_left = row_count;
  return v_left;
end $$;

-- Ends expired leases, and grants the lock to the first living waiters that it admits. The calling claim, if there is one, takes its turn at its
-- place in the queue, or at the end, and gets an answer instead of a message. The caller has locked the row of the lock.
-- p_own: the channel of the calling client, which lives.
create function holdfast_promote_v1(p_own text, lock_row holdfast_lock, p_fenced boolean, p_claim_ms integer,
                                    p_caller text, p_ticket bigint, p_mode text, p_permits integer, p_taken integer, p_attempt integer,
                                    p_lease_ms bigint)
returns setof holdfast_answer_v1
language plpgsql volatile as $$
declare
  v_now       timestamptz := clock_timestamp();
  v_last      bigint := lock_row.token;
  v_exclusive boolean := p_fenced or (lock_row.holder is not null and lock_row.expires_at > v_now);
  v_count     bigint := 0; -- taken permits; one for each reader
  v_oldest    bigint;
  v_after     bigint := lock_row.last_ticket;
  v_caller    boolean := p_caller is not null;
  v_is_caller boolean;
  v_left      integer := 0; -- how many claims have left the front of the queue
  v_blocked   boolean := false;
  v_ends      timestamptz;
  v_silent    text;
  w           holdfast_waiter;
begin
  if lock_row.kind <> 'mutex' then
    -- If a fenced transaction has locked the row, its permit stays taken until that transaction ends.
    for v_silent, v_ends in
      with ended as (
        delete from holdfast_lock
         where ctid = any (array(select ctid from holdfast_lock
                                  where name = lock_row.name and kind = lock_row.kind and slot >= lock_row.oldest and expires_at <= v_now
                                  for update skip locked))
        returning unconfirmed, expires_at)
      select unconfirmed, max(expires_at) from ended where unconfirmed <> p_own group by unconfirmed
    loop
      v_left := v_left + holdfast_distrust_v1(lock_row, v_silent, v_ends - p_claim_ms * interval '1 ms');
    end loop;
    select coalesce(sum(taken), 0), min(slot) into v_count, v_oldest from holdfast_lock
     where name = lock_row.name and kind = lock_row.kind and slot >= lock_row.oldest;
  end if;
  if not v_exclusive and lock_row.holder is not null and lock_row.unconfirmed <> p_own then
    v_left := v_left + holdfast_distrust_v1(lock_row, lock_row.unconfirmed, lock_row.expires_at - p_claim_ms * interval '1 ms');
  end if;

  while not v_exclusive and not v_blocked loop
    select * into w from holdfast_waiter
     where hash = hashtextextended(lock_row.name, 0) and name = lock_row.name and kind = lock_row.kind and place = 'q' and ticket > v_after
     order by ticket limit 1;
    if found then
      v_after := w.ticket;
      v_is_caller := v_caller and w.id = p_caller;
      if not v_is_caller and w.looked_at + w.lease_ms * interval '0.5 ms' <= v_now then
        delete from holdfast_waiter where id = w.id and name is not distinct from w.name and kind is not distinct from w.kind; -- it sends no attempts any more
        v_left := v_left + 1;
        continue;
      elsif not v_is_caller and w.channel <> p_own and not holdfast_is_alive_v1(w.channel) then
        -- All claims of a dead client are set aside at once, so that no later call reads them again.
        update holdfast_waiter set place = 's'
         where hash = hashtextextended(lock_row.name, 0) and name = lock_row.name and kind = lock_row.kind and place = 'q' and ticket >= w.ticket and channel = w.channel
           and id is distinct from p_caller;
        v_left := v_left + 2;
        continue;
      end if;
    elsif v_caller then
      v_is_caller := true;
    else
      exit;
    end if;
    if v_is_caller then
      w.id := p_caller;
      w.mode := p_mode;
      w.permits := p_permits;
      w.taken := p_taken;
    end if;

    v_blocked := case w.mode when 'read' then false when 'semaphore' then v_count + w.taken > w.permits else v_count > 0 end;
    exit when v_blocked;

    v_last := greatest(v_last + 1, (extract(epoch from v_now) * 1000000)::bigint);
    v_last := v_last + (case lock_row.kind when 'mutex' then 4 when 'rw' then 5 else 6 end - v_last % 4) % 4;
    v_oldest := coalesce(v_oldest, v_last);
    if v_is_caller then
      v_caller := false;
      v_ends := v_now + p_lease_ms * interval '1 ms';
      w.attempt := p_attempt;
      w.channel := null;
      return next (null, 'acquired', v_last, p_lease_ms, null, null, null)::holdfast_answer_v1;
    else
      v_ends := v_now + least(p_claim_ms, w.lease_ms) * interval '1 ms';
      return next (0, 'granted', v_last, floor(extract(epoch from v_ends - w.looked_at) * 1000)::bigint, w.attempt, w.channel, w.id)
        ::holdfast_answer_v1;
    end if;
    if w.mode in ('mutex', 'write') then
      v_exclusive := true;
      update holdfast_lock set token = v_last, holder = w.id, attempt = w.attempt, expires_at = v_ends, last_ticket = v_after, unconfirmed = w.channel,
             oldest = v_oldest
       where ctid = (select ctid from holdfast_lock where name = lock_row.name and kind = lock_row.kind and slot < 1 order by slot desc limit 1);
    else
      v_count := v_count + w.taken;
      -- If the row still has a writer, its lease has expired.
      update holdfast_lock set token = v_last, holder = null, last_ticket = v_after, oldest = v_oldest
       where ctid = (select ctid from holdfast_lock where name = lock_row.name and kind = lock_row.kind and slot < 1 order by slot desc limit 1);
      insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_at, taken, unconfirmed, claim)
      values (lock_row.name, lock_row.kind, v_last, v_last, w.id, w.attempt, v_ends, w.taken, w.channel, w.id);
    end if;
    if not v_is_caller or p_ticket is not null then
      delete from holdfast_waiter where id = w.id and name is not distinct from lock_row.name and kind is not distinct from lock_row.kind;
      v_left := v_left + 1;
    end if;
  end loop;

  if v_left > 0 then
    return query select * from holdfast_heads_v1(lock_row.name, lock_row.kind, lock_row.last_ticket, v_left, 0);
  end if;
end $$;

-- Notifies the claims that have come to the first two places, or to the last one: in other places, they sent attempts less often. p_left claims have left
-- the queue, all before this ticket; or the claim with this ticket has.
create function holdfast_heads_v1(p_name text, p_kind text, p_served bigint, p_left integer, p_ticket bigint) returns setof holdfast_answer_v1
language plpgsql volatile as $$
declare
  w        record;
  v_place  integer := 0;
  v_second bigint;
begin
  for w in
    select id, channel, ticket from holdfast_waiter
     where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 'q' and ticket > p_served order by ticket limit 2
  loop
    v_place := v_place + 1;
    v_second := w.ticket;
    if v_place + p_left > 2 and w.ticket > p_ticket then
      return next (0, 'head', null, null, null, w.channel, w.id)::holdfast_answer_v1;
    end if;
  end loop;
  if v_place = 2 and p_ticket > v_second then
    select id, channel, ticket into w from holdfast_waiter
     where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 'q' and ticket > v_second order by ticket desc limit 1;
    if w.ticket < p_ticket then
      return next (0, 'head', null, null, null, w.channel, w.id)::holdfast_answer_v1;
    end if;
  end if;
end $$;

-- A ticket that is not above the last served one has come back from aside, or tickets have started again after a crash.
create function holdfast_lower_last_ticket_v1(lock_row holdfast_lock, p_ticket bigint) returns bigint
language plpgsql volatile as $$
begin
  if p_ticket > lock_row.last_ticket then
    return lock_row.last_ticket;
  end if;
  update holdfast_lock set last_ticket = p_ticket - 1
   where ctid = (select ctid from holdfast_lock where name = lock_row.name and kind = lock_row.kind and slot < 1 order by slot desc limit 1);
  return p_ticket - 1;
end $$;

-- Returns when a claim in the queue must send its next attempt, in ms: when the lease may have expired, claims further back a little later, and the
-- first two places and the last one within a claim time. Those before the last may all be of clients that are gone, and then the last one finds that out.
-- If a fenced transaction prevents grants (p_left is null), only the first one asks often.
-- A ticket is an upper bound of the place: other locks have tickets in between.
create function holdfast_queued_v1(p_name text, p_kind text, p_served bigint, p_ticket bigint, p_left interval, p_lease_ms bigint, p_claim_ms integer)
returns bigint
language plpgsql volatile as $$
declare
  v_place bigint;
  v_first bigint;
  v_ms    double precision;
begin
  select count(*), min(ticket) into v_place, v_first from (
    select ticket from holdfast_waiter
     where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 'q' and ticket > p_served and ticket <= p_ticket order by ticket limit 3) front;
  v_ms := coalesce(extract(epoch from p_left) * 1000, case when v_place = 1 then 90 else p_lease_ms end) + 10 * v_place;
  if v_place <= 2 or not exists (select from holdfast_waiter where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 'q' and ticket > p_ticket) then
    v_ms := least(v_ms, p_claim_ms);
  else
    v_ms := v_ms + 10 * least(p_ticket - v_first + 1 - v_place, 100);
  end if;
  return floor(greatest(1, least(v_ms, p_lease_ms / 3)));
end $$;

-- Makes the writer of that row a reader, and admits the readers at the head of the queue. The caller has locked the row. If a transaction was
-- fenced by the writer, it goes on, and the readers wait until its end.
create function holdfast_downgrade_v1(p_own text, p_n integer, lock_row holdfast_lock, p_fenced boolean, p_attempt integer, p_lease_ms bigint, p_claim_ms integer)
returns setof holdfast_answer_v1
language plpgsql volatile as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_at, wrote, claim)
  values (lock_row.name, lock_row.kind, lock_row.token, lock_row.token, lock_row.holder, p_attempt, v_now + p_lease_ms * interval '1 ms', true,
          lock_row.holder);
  update holdfast_lock set holder = null, expires_at = v_now
   where ctid = (select ctid from holdfast_lock where name = lock_row.name and kind = lock_row.kind and slot < 1 order by slot desc limit 1);
  lock_row.holder := null;
  return next (p_n, 'acquired', lock_row.token, p_lease_ms, null, null, null)::holdfast_answer_v1;
  return query select * from holdfast_promote_v1(p_own, lock_row, p_fenced, p_claim_ms, null, null, null, null, null, null, null);
  return query
    with told as (delete from holdfast_waiter
                   where hash = hashtextextended(lock_row.name, 0) and name = lock_row.name and kind = lock_row.kind and place = 'w' returning channel, id)
    select 0, 'changed', null::bigint, null::bigint, null::integer, told.channel, told.id from told;
end $$;

-- Takes a lock for a claim, or keeps it, or gives the claim a place in the queue, or answers that the lock is not available.
create function holdfast_acquire_v1(p_own text, p_n integer, p_name text, p_kind text, p_mode text, p_permits integer, p_taken integer, p_id text,
                                    p_lease_ms bigint, p_attempt integer, p_waiting text, p_channel text, p_claim_ms integer, p_patient boolean)
returns setof holdfast_answer_v1
language plpgsql volatile as $$
declare
  v_now      timestamptz;
  v_entered  record;
  l          holdfast_lock;
  h          holdfast_lock; -- the row that the claim holds
  v_share    record;
  w          holdfast_waiter;
  r          holdfast_answer_v1;
  v_known    boolean;
  v_late     boolean;
  v_answered boolean := false;
  v_first    bigint;
  v_ends     timestamptz;
  v_left_ms  double precision;
begin
  v_entered := holdfast_enter_v1(p_name, p_kind, true, p_patient);
  if v_entered.standing = 'busy' then
    return next (p_n, 'busy', null, null, null, null, null)::holdfast_answer_v1;
    return;
  end if;
  l := v_entered.lock_row;
  v_now := clock_timestamp();
  perform 1 from holdfast_tombstone where id = p_id and until > v_now;
  if found then
    return next (p_n, 'contended', null, greatest(p_lease_ms / 3, 1), null, null, null)::holdfast_answer_v1;
    return;
  end if;

  if l.holder = p_id then
    h := l;
  elsif p_kind <> 'mutex' then
    v_share := holdfast_share_v1(p_name, p_kind, p_id, p_patient);
    if v_share.is_busy then
      return next (p_n, 'busy', null, null, null, null, null)::holdfast_answer_v1;
      return;
    end if;
    h := v_share.share;
  end if;
  if h.holder = p_id and h.expires_at > v_now then
    if p_kind = 'rw' and (h.slot = 0) <> (p_mode = 'write') then -- the claim holds the other side
      if p_mode = 'write' or p_attempt < h.attempt then
        return next (p_n, 'contended', null, greatest(p_lease_ms / 3, 1), null, null, null)::holdfast_answer_v1;
        return;
      end if;
      return query select * from holdfast_downgrade_v1(p_own, p_n, l, v_entered.standing = 'fenced', p_attempt, p_lease_ms, p_claim_ms);
      return;
    end if;
    if p_attempt < h.attempt then -- this is a late copy of an earlier attempt
      p_lease_ms := least(p_lease_ms, floor(extract(epoch from h.expires_at - v_now) * 1000)::bigint);
    else
      update holdfast_lock set attempt = p_attempt, expires_at = v_now + p_lease_ms * interval '1 ms', unconfirmed = null
       where name = p_name and kind = p_kind and slot = h.slot;
    end if;
    return next (p_n, 'acquired', h.token, p_lease_ms, null, null, null)::holdfast_answer_v1;
    return;
  end if;

  select * into w from holdfast_waiter where id = p_id and name is not distinct from p_name and kind is not distinct from p_kind;
  v_known := found;
  v_late := v_known and p_attempt < w.attempt; -- a later attempt has arrived before: this one only gets an answer
  if v_known and not v_late then
    if p_waiting = 'queue' and w.place <> 'w' then
      update holdfast_waiter
         set place = 'q', mode = p_mode, permits = p_permits, taken = p_taken, attempt = p_attempt, lease_ms = p_lease_ms, looked_at = v_now, channel = p_channel
       where id = p_id and name is not distinct from p_name and kind is not distinct from p_kind;
      l.last_ticket := holdfast_lower_last_ticket_v1(l, w.ticket);
    else
      delete from holdfast_waiter where id = p_id and name is not distinct from p_name and kind is not distinct from p_kind;
      v_known := false;
    end if;
  end if;

  if p_waiting = 'queue' and p_channel <> '' and not v_late then -- the client lives: all of its claims come back
    with back as (
      update holdfast_waiter set place = 'q'
       where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 's' and channel = p_channel returning ticket)
    select min(ticket) into v_first from back;
    if v_first is not null then
      l.last_ticket := holdfast_lower_last_ticket_v1(l, v_first);
    end if;
  end if;

  for r in select * from holdfast_promote_v1(p_own, l, v_entered.standing = 'fenced', p_claim_ms,
                                             case when not v_late then p_id end, case when v_known then w.ticket end,
                                             p_mode, p_permits, p_taken, p_attempt, p_lease_ms) loop
    if r.answer = 'acquired' then
      r.n := p_n;
      v_answered := true;
    elsif r.answer = 'granted' and r.id = p_id then -- this is a late copy of an earlier attempt: the claim also gets a message on its channel
      v_answered := true;
      return next (p_n, 'acquired', r.token, least(p_claim_ms, p_lease_ms), null, null, null)::holdfast_answer_v1;
    end if;
    return next r;
  end loop;
  if v_answered then
    return;
  end if;

  select min(expires_at) into v_ends from holdfast_lock where name = p_name and kind = p_kind and slot = 0 and holder is not null;
  if p_kind <> 'mutex' then
    select least(v_ends, min(expires_at)) into v_ends from holdfast_lock where name = p_name and kind = p_kind and slot >= l.oldest and holder is not null;
  end if;
  v_left_ms := case when v_ends > v_now then extract(epoch from v_ends - v_now) * 1000 end; -- null: a fenced transaction prevents a grant
  if p_waiting = 'queue' and not v_late and not v_known then
    insert into holdfast_waiter (name, kind, id, place, mode, permits, taken, attempt, lease_ms, looked_at, channel, hash)
    values (p_name, p_kind, p_id, 'q', p_mode, p_permits, p_taken, p_attempt, p_lease_ms, v_now, p_channel, hashtextextended(p_name, 0))
    returning * into w;
    l.last_ticket := holdfast_lower_last_ticket_v1(l, w.ticket);
    v_known := true;
  elsif p_waiting = 'notify' and not v_late and p_channel <> '' then
    insert into holdfast_waiter (name, kind, id, place, mode, permits, taken, attempt, lease_ms, looked_at, channel, hash)
    values (p_name, p_kind, p_id, 'w', p_mode, p_permits, p_taken, p_attempt, p_lease_ms, v_now, p_channel, hashtextextended(p_name, 0));
  end if;
  if not v_known or w.place = 'w' then
    return next (p_n, 'contended', null, greatest(1, least(coalesce(v_left_ms + 10, 100), p_lease_ms / 3))::bigint, null, null, null)::holdfast_answer_v1;
    return;
  end if;
  return next (p_n, 'queued', null, holdfast_queued_v1(p_name, p_kind, l.last_ticket, w.ticket, v_left_ms * interval '1 ms', p_lease_ms, p_claim_ms),
               null, null, null)::holdfast_answer_v1;
end $$;

-- Ends a claim in any state. A lock that it held goes to the first living waiters.
--   p_attempt  its last attempt, or 2147483647 if an attempt was not answered and may still arrive. Unless it has arrived, the claim leaves a trace
create function holdfast_release_v1(p_own text, p_n integer, p_name text, p_kind text, p_id text, p_attempt integer, p_claim_ms integer,
                                    p_patient boolean)
returns setof holdfast_answer_v1
language plpgsql volatile as $$
declare
  v_now     timestamptz;
  v_entered record;
  l         holdfast_lock;
  h         holdfast_lock;
  v_share   record;
  w         holdfast_waiter;
  r         holdfast_answer_v1;
  v_unsure  boolean := p_attempt = 2147483647;
  v_seen    integer; -- the last attempt of this claim that was answered
  v_held    boolean := false;
  v_served  boolean := false;
begin
  -- An unanswered attempt may be about to commit the row that it has created. The row is not visible before. Creating it here waits for that commit.
  v_entered := holdfast_enter_v1(p_name, p_kind, v_unsure and p_patient, p_patient);
  if v_entered.standing = 'busy' or (v_entered.standing = 'none' and v_unsure) then
    return next (p_n, 'busy', null, null, null, null, null)::holdfast_answer_v1;
    return;
  end if;
  l := v_entered.lock_row;
  v_now := clock_timestamp();
  if l.holder = p_id then
    v_seen := l.attempt;
    v_held := l.expires_at > v_now;
    update holdfast_lock set holder = null, expires_at = v_now
     where ctid = (select ctid from holdfast_lock where name = p_name and kind = p_kind and slot < 1 order by slot desc limit 1);
    l.holder := null;
  elsif p_kind <> 'mutex' then
    v_share := holdfast_share_v1(p_name, p_kind, p_id, p_patient);
    if v_share.is_busy then
      return next (p_n, 'busy', null, null, null, null, null)::holdfast_answer_v1;
      return;
    end if;
    h := v_share.share;
    if h.holder = p_id then
      v_seen := h.attempt;
      v_held := h.expires_at > v_now;
      update holdfast_lock set holder = null, expires_at = '-infinity', unconfirmed = null where name = p_name and kind = p_kind and slot = h.slot;
    end if;
  end if;
  delete from holdfast_waiter where id = p_id and name is not distinct from p_name and kind is not distinct from p_kind returning * into w;
  if found then
    v_seen := greatest(v_seen, w.attempt);
  end if;
  if v_seen is null or v_seen < p_attempt then
    insert into holdfast_tombstone values (p_id, v_now + interval '30 s') on conflict (id) do update set until = excluded.until;
  end if;
  return next (p_n, case when v_held then 'held' else 'not_held' end, null, null, null, null, null)::holdfast_answer_v1;
  if v_entered.standing = 'none' then
    return;
  end if;

  for r in select * from holdfast_promote_v1(p_own, l, v_entered.standing = 'fenced', p_claim_ms, null, null, null, null, null, null, null) loop
    v_served := v_served or r.answer = 'granted';
    return next r;
  end loop;
  if w.place = 'q' then
    return query select * from holdfast_heads_v1(p_name, p_kind, l.last_ticket, 1, w.ticket);
  end if;
  if v_seen is not null and not v_served and (l.holder is null or l.expires_at <= v_now) then
    return query
      with told as (delete from holdfast_waiter where hash = hashtextextended(p_name, 0) and name = p_name and kind = p_kind and place = 'w' returning channel, id)
      select 0, 'changed', null::bigint, null::bigint, null::integer, told.channel, told.id from told;
  end if;
end $$;

-- Acquires, renews and releases in one transaction, and so with one flush of the disk. Returns lines: n answer token ms; and for a message to a client:
-- 0 answer token ms attempt channel id. The server prepares each expression anew in each transaction, and ten of them cost as much as a statement that reads
-- a row. So the usual ways have few.
--   p_calls    for each operation: verb, name, kind, mode, permits, taken, id, lease, attempt, watched, token. Each client has the same order of locks
--     verb     none, notify or queue: acquire, and wait in this way; renew; release
--     taken    how many permits of a semaphore a claim takes, out of permits
--     attempt  the last attempt of the claim; for a release as for holdfast_release_v1
--     watched  whether the claim can be notified on p_channel
--     token    as for holdfast_renew_v1
--   p_patient  whether to wait for a row that another call has locked; if not, the answer is busy
create function holdfast_call_v1(p_channel text, p_claim_ms integer, p_patient boolean, p_calls text[]) returns text
language plpgsql volatile as $$
declare
  r         holdfast_answer_v1;
  w         record;
  v_lines   text;
  o         integer; -- the operation begins behind this place of the array
  v_verb    text;
  v_name    text collate "C";
  v_id      text;
  v_now     timestamptz;
  v_token   bigint;
  v_locked  text; -- the name of the lock whose row is locked, if its standing is known. The row has:
  v_row     tid;
  v_last    bigint;
  v_holder  text;
  v_attempt integer;
  v_ends    timestamptz;
  v_served  bigint;
  v_crowded boolean; -- whether at least two claims wait for it
  v_place   integer; -- place in the queue
  v_ticket  bigint;
  v_ms      bigint;
  v_durable boolean; -- null: no client is told that it holds a lock
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'holdfast: locks need READ COMMITTED, and this transaction is %', current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state';
  end if;
  for n in 1 .. cardinality(p_calls) / 11 loop
    o := 11 * n - 11;
    v_verb := p_calls[o + 1];
    v_name := p_calls[o + 2];
    v_id := p_calls[o + 7];
    -- The usual cases of a mutex: take a free one, release one, wait for a held one, or hand it to the first waiter. All other cases use the
    -- functions above.
    if v_verb <> 'renew' and p_calls[o + 3] = 'mutex' then
      if v_locked is distinct from v_name then
        select name, ctid, token, holder, attempt, expires_at, last_ticket, false
          into v_locked, v_row, v_last, v_holder, v_attempt, v_ends, v_served, v_crowded from holdfast_lock
         where name = v_name and kind = 'mutex' and slot < 1 order by slot desc limit 1 for update skip locked;
      end if;
      if v_locked is not null then
        v_now := clock_timestamp();
        v_token := (greatest(v_last, (extract(epoch from v_now) * 1000000)::bigint - 1) / 4 + 1) * 4; -- the next multiple of 4
        if v_verb = 'release' then
          if v_holder = v_id and v_ends > v_now and v_attempt >= p_calls[o + 9]::integer then
            v_place := 0;
            for w in
              select ctid, place, id, ticket, attempt, lease_ms, looked_at, channel from holdfast_waiter
               where hash = hashtextextended(v_name, 0) and name = v_name and kind = 'mutex' and (place, ticket) > ('q', v_served)
               order by place, ticket limit 3
            loop
              v_place := v_place + 1;
              if v_place = 1 then
                exit when w.place <> 'q' or w.looked_at + w.lease_ms * interval '0.5 ms' <= v_now or w.channel <> p_channel and not holdfast_is_alive_v1(w.channel);
                update holdfast_lock set token = v_token, holder = w.id, attempt = w.attempt, expires_at = v_now + least(p_claim_ms, w.lease_ms) * interval '1 ms',
                       last_ticket = w.ticket, unconfirmed = w.channel
                 where ctid = v_row
                returning ctid, token, holder, attempt, expires_at, last_ticket, true into v_row, v_last, v_holder, v_attempt, v_ends, v_served, v_durable;
                delete from holdfast_waiter where ctid = w.ctid;
                v_lines := concat_ws(chr(10), v_lines, concat(n, ' held 0 0'), concat_ws(' ', '0 granted', v_token,
                                     floor(extract(epoch from v_ends - w.looked_at) * 1000), w.attempt, w.channel, w.id));
              elsif v_place = 3 and w.place = 'q' then
                v_lines := concat_ws(chr(10), v_lines, concat('0 head 0 0 0 ', w.channel, ' ', w.id)); -- this claim is second now
              end if;
            end loop;
            v_crowded := v_place = 3 and w.place = 'q';
            continue when v_holder <> v_id; -- the lock was handed off meanwhile
            if v_place = 0 then
              update holdfast_lock set holder = null, expires_at = v_now where ctid = v_row;
              v_locked := null;
              v_lines := concat_ws(chr(10), v_lines, concat(n, ' held 0 0'));
              continue;
            end if;
          end if;
        elsif v_holder is null or v_ends <= v_now then
          update holdfast_lock
             set token = v_token, holder = v_id, attempt = p_calls[o + 9]::integer, expires_at = v_now + p_calls[o + 8]::bigint * interval '1 ms', unconfirmed = null
           where ctid = v_row
             and not exists (select from holdfast_waiter q
                              where q.hash = hashtextextended(v_name, 0) and q.name = v_name and q.kind = 'mutex' and (q.place, q.ticket) > ('q', v_served))
             and not exists (select from holdfast_tombstone g where g.id = v_id and g.until > v_now);
          if found then
            v_locked := null;
            v_durable := true;
            v_lines := concat_ws(chr(10), v_lines, concat(n, ' acquired ', v_token, ' ', p_calls[o + 8]));
            continue;
          end if;
        elsif v_verb = 'queue' and v_holder <> v_id then
          insert into holdfast_waiter (name, kind, id, place, mode, permits, taken, attempt, lease_ms, looked_at, channel, hash)
          select v_name, 'mutex', v_id, 'q', 'mutex', p_calls[o + 5]::integer, p_calls[o + 6]::integer, p_calls[o + 9]::integer, p_calls[o + 8]::bigint, v_now,
                 case when p_calls[o + 10]::boolean then p_channel else '' end, hashtextextended(v_name, 0)
           where not exists (select from holdfast_waiter q where q.id = v_id)
             and not exists (select from holdfast_tombstone g where g.id = v_id and g.until > v_now)
             and not exists (select from holdfast_waiter q
                              where q.hash = hashtextextended(v_name, 0) and q.name = v_name and q.kind = 'mutex' and q.place = 's' and q.channel = p_channel)
          returning ticket into v_ticket;
          if v_ticket > v_served then
            if v_crowded then
              v_ms := floor(greatest(1, least(extract(epoch from v_ends - v_now) * 1000 + 30, p_claim_ms, p_calls[o + 8]::bigint / 3)));
            else
              v_ms := holdfast_queued_v1(v_name, 'mutex', v_served, v_ticket, v_ends - v_now, p_calls[o + 8]::bigint, p_claim_ms);
            end if;
            v_lines := concat_ws(chr(10), v_lines, concat(n, ' queued 0 ', v_ms));
            continue;
          end if;
        end if;
      end if;
    end if;

    v_locked := null;
    if v_verb = 'renew' then
      select x.answer into r.answer
        from holdfast_renew_v1(p_patient, array[v_name], p_calls[o + 3:o + 3], array[v_id], array[p_calls[o + 8]::bigint], array[p_calls[o + 11]::bigint]) x;
      v_durable := v_durable or nullif(r.answer = 'held', false);
      v_lines := concat_ws(chr(10), v_lines, concat(n, ' ', r.answer, ' 0 0'));
    elsif v_verb = 'release' then
      for r in select * from holdfast_release_v1(p_channel, n, v_name, p_calls[o + 3], v_id, p_calls[o + 9]::integer, p_claim_ms, p_patient) loop
        v_durable := v_durable or nullif(r.answer = 'granted' or p_calls[o + 9] = '2147483647', false); -- perhaps an operator has broken the lock
        v_lines := concat_ws(chr(10), v_lines, holdfast_line_v1(r));
      end loop;
    else
      for r in select * from holdfast_acquire_v1(p_channel, n, v_name, p_calls[o + 3], p_calls[o + 4], p_calls[o + 5]::integer, p_calls[o + 6]::integer, v_id,
                                                 p_calls[o + 8]::bigint, p_calls[o + 9]::integer, v_verb,
                                                 case when p_calls[o + 10]::boolean then p_channel else '' end, p_claim_ms, p_patient) loop
        v_durable := v_durable or nullif(r.answer in ('acquired', 'granted'), false);
        v_lines := concat_ws(chr(10), v_lines, holdfast_line_v1(r));
      end loop;
    end if;
  end loop;
  if v_durable is null then
    -- If a crash undoes this transaction, that costs at most a lease duration.
    perform set_config('synchronous_commit', 'off', true);
  end if;
  return v_lines;
end $$;

-- Runs holdfast_call_v1, commits, and notifies other clients in a second transaction, which writes no row and so does not wait for the disk. In the first
-- one, a notification would lock the whole instance until its commit is on the disk. If the queue of notifications is nearly full, none are sent: an error
-- here would come after the commit.
--   p_answers  the lines for this client. A line with the answer notified or unnotified says whether the others were notified, if there were any
create procedure holdfast_commit_v1(p_channel text, p_claim_ms integer, p_patient boolean, p_calls text[], inout p_answers text)
language plpgsql as $$
declare
  v_line     text;
  v_to       text;
  v_channels text[];
  v_lines    text[];
begin
  foreach v_line in array string_to_array(holdfast_call_v1(p_channel, p_claim_ms, p_patient, p_calls), chr(10)) loop
    v_to := case when v_line like '0 %' then split_part(v_line, ' ', 6) else p_channel end;
    if v_to = p_channel then
      p_answers := concat_ws(chr(10), p_answers, v_line);
    elsif v_to <> '' then
      v_channels := v_channels || v_to;
      v_lines := v_lines || v_line;
    end if;
  end loop;
  if v_channels is not null then
    commit;
    if pg_notification_queue_usage() < 0.9 then
      perform set_config('lock_timeout', '0', true); -- the commit of a notification waits for that of any other one
      perform pg_notify(v_channels[i], v_lines[i]) from generate_subscripts(v_lines, 1) i;
      p_answers := concat_ws(chr(10), p_answers, '0 notified 0 0 0 - -');
    else
      p_answers := concat_ws(chr(10), p_answers, '0 unnotified 0 0 0 - -');
    end if;
  end if;
end $$;

-- Extends the leases of held claims, each by its own lease duration. Never creates a claim. With p_patient, all claims are of one lock.
--   p_tokens  a claim that is adopted from another process is held only with this token: with another one, its hold began after the lease had ended.
--             0 or null for any
create function holdfast_renew_v1(p_patient boolean, p_names text[], p_kinds text[], p_ids text[], p_leases bigint[], p_tokens bigint[] default '{}')
returns table (n bigint, answer text)
language plpgsql volatile as $$
declare
  v_now  timestamptz;
  v_n    bigint[]; -- the claims whose rows are locked now
  v_rows tid[];
begin
  if p_patient then
    perform 1 from holdfast_lock l where l.name = p_names[1] and l.kind = p_kinds[1] and l.holder = any (p_ids) for no key update;
  end if;
  select array_agg(h.n), array_agg(h.ctid) into v_n, v_rows from (
    select c.n, l.ctid from unnest(p_names, p_kinds, p_ids) with ordinality as c(name, kind, id, n)
      join holdfast_lock l on l.claim = c.id collate "C" and l.name is not distinct from c.name and l.kind is not distinct from c.kind
     where l.holder = c.id and l.token = coalesce(nullif(p_tokens[c.n], 0), l.token) for no key update of l skip locked) h;
  select v_n || array_agg(h.n), v_rows || array_agg(h.ctid) into v_n, v_rows from (
    select c.n, l.ctid from unnest(p_names, p_kinds, p_ids) with ordinality as c(name, kind, id, n) cross join lateral (
      select o.ctid from holdfast_lock o
       where o.name = c.name collate "C" and o.kind = c.kind collate "C" and o.slot < 1 and o.holder = c.id and o.token = coalesce(nullif(p_tokens[c.n], 0), o.token)
       order by o.slot desc limit 1 for no key update skip locked) l
     where c.n <> all (coalesce(v_n, '{}'))) h;
  v_now := clock_timestamp();
  return query
    with renewed as (
      update holdfast_lock l set expires_at = v_now + p_leases[h.n] * interval '1 ms', unconfirmed = null
        from unnest(v_n, v_rows) as h(n, row) where l.ctid = h.row and l.expires_at > v_now
      returning h.n)
    select c.n,
           case when renewed.n is not null then 'held'
                when c.n <> all (coalesce(v_n, '{}')) and exists (
                  select from holdfast_lock l
                   where l.name = c.name collate "C" and l.kind = c.kind collate "C" and l.holder = c.id
                     and l.token = coalesce(nullif(p_tokens[c.n], 0), l.token) and l.expires_at > v_now) then 'busy'
                else 'not_held' end
      from unnest(p_names, p_kinds, p_ids) with ordinality as c(name, kind, id, n) left join renewed on renewed.n = c.n;
end $$;

-- Fails unless the lease with this token is valid. Then no other claim gets the lock until the transaction of the caller ends.
--   p_checked  whether the client has found the lease valid too. If not, a lease that was downgraded fails: this function cannot tell a writer from
--              the reader that it has become
-- The transaction id that has locked the row is that of the transaction, or that of a subtransaction, whose rollback would undo the check. If
-- it is not known to be the former, pg_locks tells: a transaction locks its own id, and those of its open subtransactions. Reading pg_locks each
-- time would cost more. xmax may also be the number of a multixact, which is lower than the next one.
-- It runs in transactions of applications, so each operator has its exact types: a better match in the schema of this function would run instead.
create function holdfast_fence_v1(p_name text, p_token bigint, p_checked boolean default false) returns boolean
language plpgsql volatile as $$
declare
  v_kind text collate "C" := case p_token % 4::bigint when 0 then 'mutex' when 1 then 'rw' else 'semaphore' end;
  v_slot bigint;
  v_top  xid;
begin
  select slot into v_slot from holdfast_lock
   where name = p_name and kind = v_kind and slot in (0, p_token) and token = p_token and holder is not null
     and expires_at > clock_timestamp() and (p_checked or not wrote)
     for key share;
  if not found then
    raise exception 'holdfast: lock "%" does not have the lease with token % any more: roll back', p_name, p_token using errcode = 'HF001';
  end if;
  v_top := pg_current_xact_id()::xid;
  perform 1 from holdfast_lock where name = p_name and kind = v_kind and slot = v_slot and xmax = v_top;
  if (not found or mxid_age(v_top) > 0)
     and (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'transactionid' and mode = 'ExclusiveLock') > 1 then
    raise exception 'holdfast: a rollback to a savepoint would undo this check of lock "%": check the fence outside of savepoints, nested transactions and EXCEPTION blocks, and without autosave of the driver', p_name
      using errcode = 'HF002';
  end if;
  return true;
end $$;

-- So the caller may name the schema of this function, and needs none of it on its search path.
do $$ begin
  execute format('alter function holdfast_fence_v1 set search_path = %I, pg_temp', current_schema());
end $$;

-- Deletes what is out of date. It waits for no other call. Each minute it deletes claims that send no attempts any more and old traces of released
-- claims, and begins a pass over the locks. A step of that pass reads 2000 rows and deletes locks that had no holder for holdfast_schema.keep; the
-- steps of all clients together are at least 100 ms apart. Returns false if nothing was due; after true, call it again soon.
create function holdfast_sweep_v1() returns boolean
language plpgsql volatile as $$
declare
  v_now  timestamptz := clock_timestamp();
  v_old  timestamptz;
  v_last text collate "C";
  v_read integer;
  v_gone integer;
  s      holdfast_schema;
begin
  select * into s from holdfast_schema
   where (swept_at < v_now - interval '1 minute' or swept_to is not null) and batch_at < v_now - interval '100 ms' limit 1 for update skip locked;
  if not found then
    return false;
  end if;
  if s.swept_at < v_now - interval '1 minute' then
    s.swept_to := coalesce(s.swept_to, '');
    delete from holdfast_tombstone where ctid = any (array(select ctid from holdfast_tombstone where until <= v_now limit 10000 for update skip locked));
    get diagnostics v_read = row_count;
    delete from holdfast_waiter
     where ctid in (select ctid from holdfast_waiter
                     where looked_at + lease_ms * interval '0.5 ms' <= v_now - interval '1 minute' limit 10000 for update skip locked);
    get diagnostics v_gone = row_count;
    if v_read < 10000 and v_gone < 10000 then -- otherwise the next step goes on with them
      s.swept_at := v_now;
    end if;
  end if;
  v_old := v_now - s.keep;
  select count(*), max(name) into v_read, v_last from (
    select name from holdfast_lock where name > s.swept_to order by name, kind, slot limit 2000) step;
  -- The next token of a deleted row is higher than its last one, since tokens follow the clock.
  delete from holdfast_lock
   where (name, kind, slot) in (
     select name, kind, slot from holdfast_lock l
      where name > s.swept_to and name <= v_last
        and expires_at <= v_old and token < (extract(epoch from v_old) * 1000000)::bigint
        and (slot > 0 or not exists (select from holdfast_lock t where t.name = l.name and t.kind = l.kind and t.slot > 0))
      order by name, kind, slot for update of l skip locked);
  update holdfast_schema set swept_at = s.swept_at, swept_to = case when v_read = 2000 then v_last end, batch_at = v_now;
  perform set_config('synchronous_commit', 'off', true);
  return true;
end $$;
