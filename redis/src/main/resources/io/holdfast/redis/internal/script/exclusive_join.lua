-- The usual joins: first attempts of claims that want the lock alone, beginning with operation i of this call, join its queue by one command of each kind
-- while it is held alone. Most differ in their ids only. Part of the loop of lock.lua. A function that uses locals of others costs the server more, so it gets
-- all as arguments.
-- Returns the last of these operations, an error if there is one, and how many waiters have to be swept, if any. The answers are in the list then. If a claim is
-- known, or something else is not as usual, there are none, and nothing is written: all of these operations take the longer way.
function(call, try, sub, byte, find, match, format, KEYS, ARGV, now, now_digits, answers, key, text, flag, i)
  local queue, claims, last, ids = key .. ':queue', key .. ':claims', i, {ARGV[4 * i - 3]}
  while KEYS[last + 1] == key and byte(ARGV[4 * last + 2]) == 65 and byte(ARGV[4 * last + 4]) == 113 do
    last = last + 1
    ids[#ids + 1] = ARGV[4 * last - 3]
  end
  local joins, ends, line_end = #ids, tonumber(sub(text, 4, 19)), find(text, '\n', 36, true)
  local waiting = try('ZCARD', queue)
  local later = waiting ~= 0 and try('ZRANGEBYSCORE', queue, now_digits, '+inf', 'LIMIT', 0, 1)
  local known = joins > 1 and try('HMGET', claims, unpack(ids))
  local gone = flag % 4 > 1 and try('ZMSCORE', key .. ':gone', unpack(ids))
  if not ends or not line_end or later and later.err or known and known.err or gone and gone.err then
    return last
  end
  local holder = sub(text, line_end + 1)
  for n = 1, joins do
    if known and known[n] or gone and gone[n] or ids[n] == holder then
      return last
    end
  end

  local note, words, entry, lease, limit, claim_ms, own, places, pairs_
  local ticket, ticket_digits, longest, in_run = now, now_digits, 0, 0
  if later and later[1] then -- the clock was set back, or the last one has come in this microsecond
    ticket = call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] + 1
    ticket_digits = format('%.0f', ticket)
  end
  for n = 1, joins do
    local its = 4 * (i + n - 1)
    if words ~= ARGV[its] or note ~= ARGV[its - 1] then
      words, note = ARGV[its], ARGV[its - 1]
      local floor, secret
      limit, floor, claim_ms, secret = match(words, '^queue:?(%d*) (%d+) (%d+) (%S+)$')
      local lease_digits = sub(ARGV[its - 2], 2)
      local channel_end = find(note, ' ', #lease_digits + 4, true) -- in '1 <lease> <channel> <client>'
      own = sub(note, #lease_digits + 4, channel_end - 1)
      entry = lease_digits .. sub(note, channel_end) .. ' ' .. floor .. ' ' .. own .. ' - ' .. secret .. ' 1 ' .. now_digits .. ' ' .. now_digits
      lease, limit = tonumber(lease_digits), tonumber(limit)
      if limit then
        local size = tonumber(match(text, ' (%d+)\n', line_end - 3)) or 1
        in_run = size > 1 and size or 0 -- see waiting_behind()
      end
      longest = math.max(longest, lease)
    end
    if limit and waiting - in_run >= limit then
      ids[n] = {4, waiting - in_run}
    else
      waiting = waiting + 1
      if places then
        ticket = ticket + 1
        places[#places + 1], places[#places + 2] = format('%d%06d', ticket / 1000000, ticket % 1000000), ids[n]
        pairs_[#pairs_ + 1], pairs_[#pairs_ + 2] = ids[n], entry
      else
        places, pairs_ = {ticket_digits, ids[n]}, {ids[n], entry}
      end
      local pause = math.min((ends - now) / 1000 + 10 * math.min(waiting, 100), lease / 3, waiting < 3 and claim_ms or lease)
      ids[n] = {2, math.max(1, math.floor(pause))}
    end
  end

  local saved = places and (known and try('HSET', claims, unpack(pairs_)) or not known and try('HSETNX', claims, places[2], entry))
  if saved == 0 then -- it is known
    return last
  elseif type(saved) == 'table' then
    return last, saved
  elseif saved then
    call('ZADD', queue, unpack(places))
    local kept = call('PTTL', claims)
    if kept < longest then
      call('PEXPIRE', claims, 2 * longest)
      call('PEXPIRE', queue, 2 * longest)
    elseif not later or byte(key, -1) == 119 then -- shares have lengthened the time of the entries alone
      call('PEXPIRE', queue, kept)
    end
    if flag % 2 == 0 then
      call('SETRANGE', key, 2, flag - 47)
    end
  end
  local client = byte(text, 19) % 2 == 0 and own ~= '-' and ' ' .. match(own, '^[^{]+')
  if client and (find(text, client .. ' ', 36, true) or find(text, client .. '{', 36, true)) and not find(text, ' ' .. now_digits .. ' ', 36, true) then
    try('SETRANGE', key, 18, byte(text, 19) - 47) -- a pushed grant, and its client calls after it: it lives
  end
  for n = 1, joins do
    answers[i + n - 1] = ids[n]
  end
  if not saved then -- the queue is full, perhaps of dead ones
    return last, nil, now % 8 < joins and 64
  end
  return last, nil, now % 128 < joins and (waiting > 64 or call('HLEN', claims) > waiting + 16) and 256
end
